/** What a running guest tells of itself (`guestosinfo`, `userlist`, `filesystemlist`) and shows (`vnc/screenshot`). */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { NodeAgentRead } from '../../openapi/node-agent.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { checkDisplay } from './displays.js';
import {
  addressOf,
  checkAgentConnected,
  findRunningInstance,
  instanceResources,
  onInstance,
} from './instances.js';
import type { ActionSubresource } from './interface.js';
import type { NodeAgentDialer } from './node-agent-dialer.js';

export interface GuestReadDependencies {
  readonly registry: Pick<Registry, 'get'>;
  readonly dialer: NodeAgentDialer;
}

interface GuestRead {
  readonly name: string;
  readonly subject: NodeAgentRead;
  /** Throws where this guest has no answer. */
  readonly check: (vmi: VirtualMachineInstance) => void;
  readonly query?: (context: RequestContext) => Readonly<Record<string, string>>;
}

const guestReads: readonly GuestRead[] = [
  { name: 'guestosinfo', subject: 'guestosinfo', check: checkAgentConnected },
  { name: 'userlist', subject: 'userlist', check: checkAgentConnected },
  { name: 'filesystemlist', subject: 'filesystemlist', check: checkAgentConnected },
  {
    name: 'vnc/screenshot',
    subject: 'screenshot',
    check: checkDisplay,
    query: ({ query }): Record<string, string> =>
      query.get('moveCursor') === 'true' ? { moveCursor: 'true' } : {},
  },
];

export function guestReadSubresources({
  registry,
  dialer,
}: GuestReadDependencies): readonly ActionSubresource[] {
  return guestReads.flatMap(({ name, subject, check, query }) =>
    instanceResources.map((resource): ActionSubresource => ({
      type: 'action',
      ...onInstance(resource),
      name,
      verbs: ['get'],
      handle: async (context) => {
        const vmi = await findRunningInstance(registry, context, resource);
        check(vmi);
        const { contentType, body } = await dialer.call(
          { ...addressOf(vmi, context), method: 'GET', subject, query: query?.(context) ?? {} },
          context.signal,
        );
        return { kind: 'bytes', status: 200, contentType, chunks: [body] };
      },
    })),
  );
}
