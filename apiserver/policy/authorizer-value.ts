/** `authorizer` in expressions: `authorizer.group('').resource('secrets').namespace('x').check('get').allowed()`. */
import { dnsLabelFaults, dnsSubdomainFaults } from '../../openapi/names.js';
import { EvaluationError, Opaque, type Value } from '../cel/values.js';

/** May the request's user, or a service account, do this? Empty strings stand for what is not said. */
export interface Question {
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly verb: string;
  /** Of what is no resource. */
  readonly path: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why it could not be told. */
  readonly error?: string;
}

/** Waits for the answer. */
export type Ask = (question: Question) => Verdict;

type Target = Omit<Question, 'verb' | 'serviceAccount'>;

const nothing: Target = {
  path: undefined,
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

export class AuthorizerValue extends Opaque {
  readonly type = 'kubernetes.authorization.Authorizer';

  constructor(
    private readonly ask: Ask,
    /** What the request itself is about. */
    private readonly request: Partial<Target>,
    private readonly serviceAccount?: Question['serviceAccount'],
  ) {
    super();
  }

  override field(name: string): Value | undefined {
    if (name !== 'requestResource') return undefined;
    return new CheckValue(this.ask, this.serviceAccount, { ...nothing, ...this.request });
  }

  override call(name: string, [first, second]: readonly Value[]): Value | undefined {
    if (typeof first !== 'string') return undefined;
    const check = (target: Partial<Target>): Value =>
      new CheckValue(this.ask, this.serviceAccount, { ...nothing, ...target });
    if (name === 'group') return new GroupValue((resource) => check({ group: first, resource }));
    if (name === 'path') return check({ path: filled('path', first) });
    if (name !== 'serviceAccount' || typeof second !== 'string') return undefined;
    if (dnsSubdomainFaults(second).length > 0) throw new EvaluationError('Invalid service account name');
    if (dnsLabelFaults(first).length > 0) throw new EvaluationError('Invalid service account namespace');
    return new AuthorizerValue(this.ask, this.request, { namespace: first, name: second });
  }
}

const checkMethods = ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'];

function filled(what: string, text: string): string {
  if (text.trim() !== '') return text;
  throw new EvaluationError(`${what} must not be empty`);
}

class GroupValue extends Opaque {
  readonly type = 'kubernetes.authorization.GroupCheck';

  constructor(private readonly check: (resource: string) => Value) {
    super();
  }

  override call(name: string, [resource]: readonly Value[]): Value | undefined {
    if (name !== 'resource' || typeof resource !== 'string') return undefined;
    return this.check(filled('resource', resource));
  }
}

class CheckValue extends Opaque {
  readonly type = 'kubernetes.authorization.ResourceCheck';

  constructor(
    private readonly ask: Ask,
    private readonly serviceAccount: Question['serviceAccount'],
    private readonly target: Target,
  ) {
    super();
  }

  override call(name: string, [text]: readonly Value[]): Value | undefined {
    if (typeof text !== 'string') return undefined;
    const { ask, serviceAccount, target } = this;
    if (name === 'check') return new VerdictValue(ask({ ...target, serviceAccount, verb: text }));
    const more = target.path === undefined && checkMethods.includes(name);
    return more ? new CheckValue(ask, serviceAccount, { ...target, [name]: text }) : undefined;
  }
}

class VerdictValue extends Opaque {
  readonly type = 'kubernetes.authorization.Decision';

  constructor(private readonly verdict: Verdict) {
    super();
  }

  override call(name: string, values: readonly Value[]): Value | undefined {
    if (values.length > 0) return undefined;
    const { allowed, reason, error } = this.verdict;
    const answers: Readonly<Record<string, Value>> = {
      allowed,
      reason,
      errored: error !== undefined,
      error: error ?? '',
    };
    return Object.hasOwn(answers, name) ? answers[name] : undefined;
  }
}
