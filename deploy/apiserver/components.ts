/** The parts of this system as the cluster knows them: by their service accounts. */
import { boundNode, type IsComponent, type NodeAgentOf } from '../../apiserver/admission/components.js';
import { apiserverUser } from '../../openapi/node-agent.js';

export interface Components {
  readonly isComponent: IsComponent;
  readonly nodeAgentOf: NodeAgentOf;
}

export function clusterComponents(namespace: string): Components {
  const account = (name: string): string => `system:serviceaccount:${namespace}:${name}`;
  const nodeAgent = account('nativirt-node-agent');
  const names = new Set([
    apiserverUser,
    account('nativirt-apiserver'),
    account('nativirt-controllers'),
    nodeAgent,
  ]);
  return {
    isComponent: ({ name }) => names.has(name),
    nodeAgentOf: (user) => (user.name === nodeAgent ? { node: boundNode(user) } : undefined),
  };
}
