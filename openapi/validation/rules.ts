/**
 * The rules of `x-kubernetes-validations`, written natively. The definitions hold few, so each stands here under its own text and
 * no expression language is evaluated; a rule that is not here stops the compilation of its kind.
 */
import { isDeepStrictEqual } from 'node:util';

type JsonObject = Readonly<Record<string, unknown>>;

export interface Rule {
  /** A transition rule compares with the old value and is skipped where there is none. */
  readonly transition: boolean;
  holds(self: unknown, oldSelf: unknown): boolean;
}

function rule(holds: (self: unknown) => boolean): Rule {
  return { transition: false, holds };
}

/** The rules run only on objects that passed their schema, so a value of another type cannot be the rule's to judge. */
function onObject(holds: (self: JsonObject) => boolean): Rule {
  return rule((self) => typeof self !== 'object' || self === null || holds(self as JsonObject));
}

function onString(holds: (self: string) => boolean): Rule {
  return rule((self) => typeof self !== 'string' || holds(self));
}

const backupGroup = 'backup.kubevirt.io';
const kubevirtGroup = 'kubevirt.io';

const rules: Readonly<Record<string, Rule>> = {
  'self == oldSelf': { transition: true, holds: (self, oldSelf) => isDeepStrictEqual(self, oldSelf) },
  'self == true': rule((self) => self === true),
  "self.startsWith('/')": onString((self) => self.startsWith('/')),
  "!self.contains('..')": onString((self) => !self.includes('..')),
  'has(self.pvcName) && self.pvcName != ""': onObject(
    ({ pvcName }) => pvcName !== undefined && pvcName !== '',
  ),
  '!has(self.mode) || self.mode != \'Pull\' || (has(self.tokenSecretRef) && self.tokenSecretRef != "")':
    onObject(
      ({ mode, tokenSecretRef }) =>
        mode !== 'Pull' || (tokenSecretRef !== undefined && tokenSecretRef !== ''),
    ),
  'has(self.apiGroup)': onObject(({ apiGroup }) => apiGroup !== undefined),
  "has(self.apiGroup) && self.apiGroup == 'kubevirt.io'": onObject(
    ({ apiGroup }) => apiGroup === kubevirtGroup,
  ),
  "!has(self.apiGroup) || self.apiGroup == 'kubevirt.io' || self.apiGroup == 'backup.kubevirt.io'": onObject(
    ({ apiGroup }) => apiGroup === undefined || apiGroup === kubevirtGroup || apiGroup === backupGroup,
  ),
  "!has(self.apiGroup) || (self.apiGroup == 'kubevirt.io' && self.kind == 'VirtualMachine') || (self.apiGroup == 'backup.kubevirt.io' && self.kind == 'VirtualMachineBackupTracker')":
    onObject(
      ({ apiGroup, kind }) =>
        apiGroup === undefined ||
        (apiGroup === kubevirtGroup && kind === 'VirtualMachine') ||
        (apiGroup === backupGroup && kind === 'VirtualMachineBackupTracker'),
    ),
  "self.kind == 'VirtualMachine'": onObject(({ kind }) => kind === 'VirtualMachine'),
  "self.name != ''": onObject(({ name }) => name !== ''),
};

/** Throws if the rule has no implementation. */
export function ruleOf(text: string): Rule {
  const known = Object.hasOwn(rules, text) ? rules[text] : undefined;
  if (known === undefined)
    throw new Error(
      `x-kubernetes-validations: no implementation of the rule ${text}; add it to openapi/validation/rules.ts`,
    );
  return known;
}
