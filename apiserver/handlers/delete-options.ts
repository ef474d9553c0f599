/** DeleteOptions, from the body or, if there is none, from the query. */
import type { StatusCause } from '../../openapi/meta.js';
import { decodeBody, isJsonObject } from '../codec/decode.js';
import { badRequest } from '../errors/api-error.js';
import type { DeleteOptions, PropagationPolicy } from '../registry/delete.js';
import { invalidValue } from '../registry/metadata-rules.js';
import type { RequestContext } from '../request.js';
import { dryRunCauses, flag, integer, invalidOptions, notSupported } from './options.js';

export interface ReadDeleteOptions {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
}

/** As sent, before it is checked. */
interface Sent {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: DeleteOptions['preconditions'];
  readonly dryRun: readonly string[];
}

function ofQuery(query: URLSearchParams): Sent {
  return {
    gracePeriodSeconds: integer(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: flag(query, 'orphanDependents'),
    preconditions: undefined,
    dryRun: query.getAll('dryRun').filter((value) => value !== ''),
  };
}

type Json = Readonly<Record<string, unknown>>;

/** A member of the options, if it is there and of the type that `is` tells. */
function member<T>(
  options: Json,
  key: string,
  what: string,
  is: (value: unknown) => value is T,
): T | undefined {
  const value = options[key];
  if (value === undefined || value === null) return undefined;
  if (!is(value)) throw badRequest(`the delete options can not be decoded: ${key} must be ${what}`);
  return value;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

function preconditionsOf(options: Json): DeleteOptions['preconditions'] {
  const sent = member(options, 'preconditions', 'an object', isJsonObject);
  if (sent === undefined) return undefined;
  const uid = member(sent, 'uid', 'a string', isText);
  const resourceVersion = member(sent, 'resourceVersion', 'a string', isText);
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function ofBody({ body, headers }: RequestContext): Sent {
  const decoded = decodeBody(body, headers['content-type']).value;
  // Generated clients write options that nobody has set as null.
  const value = decoded ?? {};
  if (!isJsonObject(value)) throw badRequest('the delete options can not be decoded: they must be an object');
  const kind = member(value, 'kind', 'a string', isText);
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw badRequest(`the delete options can not be decoded: their kind is ${kind}, not DeleteOptions`);
  }
  return {
    gracePeriodSeconds: member(value, 'gracePeriodSeconds', 'an integer', isInteger),
    propagationPolicy: member(value, 'propagationPolicy', 'a string', isText),
    orphanDependents: member(value, 'orphanDependents', 'true or false', isFlag),
    preconditions: preconditionsOf(value),
    dryRun: member(value, 'dryRun', 'a list of strings', isTextList) ?? [],
  };
}

function isPolicy(text: string): text is PropagationPolicy {
  return text === 'Foreground' || text === 'Background' || text === 'Orphan';
}

function policyOf(
  { propagationPolicy, orphanDependents }: Sent,
  causes: StatusCause[],
): PropagationPolicy | undefined {
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    causes.push(
      invalidValue(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and propagationPolicy can not be both set',
      ),
    );
  }
  if (propagationPolicy === undefined) {
    if (orphanDependents === undefined) return undefined;
    return orphanDependents ? 'Orphan' : 'Background';
  }
  if (isPolicy(propagationPolicy)) return propagationPolicy;
  causes.push(
    notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
  );
  return undefined;
}

export function readDeleteOptions(context: RequestContext): ReadDeleteOptions {
  const sent = context.body.length === 0 ? ofQuery(context.query) : ofBody(context);
  const causes: StatusCause[] = dryRunCauses(sent.dryRun);
  const propagationPolicy = policyOf(sent, causes);
  if (causes.length > 0) throw invalidOptions('DeleteOptions', causes);
  const { gracePeriodSeconds, preconditions } = sent;
  return {
    options: {
      // A negative period has always meant the shortest one that is not zero.
      ...(gracePeriodSeconds === undefined
        ? {}
        : { gracePeriodSeconds: gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(preconditions === undefined ? {} : { preconditions }),
    },
    dryRun: sent.dryRun.length > 0,
  };
}
