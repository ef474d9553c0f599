/** Writes that an action makes on the user's behalf: the user was authorized for the action, not for each of its writes. */
import { apiserverUser } from '../../openapi/node-agent.js';
import type { Actor } from '../registry/registry.js';

const user = { name: apiserverUser, groups: ['system:masters', 'system:authenticated'], extra: {} };

export function serverActor(subresource: 'status' | undefined, dryRun: boolean): Actor {
  return {
    user,
    manager: 'nativirt-apiserver',
    dryRun,
    ...(subresource === undefined ? {} : { subresource }),
  };
}
