/** Whether somebody may do something. */
import type { UserInfo, RequestInfo } from '../request.js';
import { authorizedSubresource } from '../request-info.js';

/** One question. Empty strings stand for what a request does not have. */
export interface Attributes {
  readonly user: UserInfo;
  /** A Kubernetes verb, or the lower-cased method for a path that is no resource. */
  readonly verb: string;
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Of a list, watch or delete of a collection, as clients write them. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface Decision {
  /** `none`: this authorizer has no opinion. In the end that refuses too, but a later one may still allow. */
  readonly effect: 'allow' | 'deny' | 'none';
  /** For the audit log; after a refusal also for the user. */
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: Attributes, signal: () => AbortSignal): Decision | Promise<Decision>;
}

export function attributesOf(user: UserInfo, info: RequestInfo): Attributes {
  return {
    user,
    verb: info.isResource ? info.verb : info.method.toLowerCase(),
    isResource: info.isResource,
    path: info.path,
    group: info.group,
    version: info.version,
    namespace: info.namespace ?? '',
    resource: info.resource,
    subresource: authorizedSubresource(info),
    name: info.name ?? '',
  };
}

/** The first that allows or denies decides. Stays synchronous as long as its members do. */
export class AuthorizerUnion implements Authorizer {
  constructor(private readonly members: readonly Authorizer[]) {}

  authorize(attributes: Attributes, signal: () => AbortSignal): Decision | Promise<Decision> {
    return this.#ask(0, [], attributes, signal);
  }

  #ask(
    from: number,
    reasons: readonly string[],
    attributes: Attributes,
    signal: () => AbortSignal,
  ): Decision | Promise<Decision> {
    const said = [...reasons];
    for (let index = from; index < this.members.length; index++) {
      const answer = this.members[index]?.authorize(attributes, signal);
      if (answer === undefined) continue;
      if (answer instanceof Promise) {
        return answer.then((decision) =>
          decision.effect === 'none'
            ? this.#ask(index + 1, withReason(said, decision), attributes, signal)
            : decision,
        );
      }
      if (answer.effect !== 'none') return answer;
      if (answer.reason !== '') said.push(answer.reason);
    }
    return { effect: 'none', reason: said.join('\n') };
  }
}

function withReason(reasons: readonly string[], decision: Decision): readonly string[] {
  return decision.reason === '' ? reasons : [...reasons, decision.reason];
}
