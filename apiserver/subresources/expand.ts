/** A VM with its instancetype and preference replaced by what they stand for: of one that is stored, and of one that is sent. */
import { expandTemplate } from '../../openapi/instancetype/expand.js';
import type { KubeVirtConfiguration, VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../openapi/meta.js';
import type { Definitions } from '../../openapi/schema.js';
import { conflictCauses, resolveReferences, spreadCauses } from '../admission/instancetype/expand.js';
import { matcherCauses } from '../admission/instancetype/matchers.js';
import { setTemplateDefaults } from '../admission/vmi/defaults/spec.js';
import { badRequest, invalid, notFound, type ApiError } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import type { Registry } from '../registry/registry.js';
import { kubevirtGroup, servedEverywhere, subresourcesGroup, versions } from './groups.js';
import type { ActionSubresource } from './interface.js';
import { optionsReader } from './options.js';

export interface ExpandDependencies {
  readonly registry: Pick<Registry, 'get' | 'lookups'>;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
}

const answered = {
  type: 'action',
  namespaced: true,
  servedUnder: servedEverywhere,
  responseKind: { group: kubevirtGroup, version: 'v1', kind: 'VirtualMachine' },
} as const;

export function expandSubresources(dependencies: ExpandDependencies): readonly ActionSubresource[] {
  return [expandSpec(dependencies), expandVmSpec(dependencies)];
}

function expandSpec(dependencies: ExpandDependencies): ActionSubresource {
  return {
    ...answered,
    resource: 'virtualmachines',
    name: 'expand-spec',
    verbs: ['get'],
    async handle({ info: { namespace, name = '' } }) {
      const target = { group: kubevirtGroup, resource: 'virtualmachines', namespace, name };
      const vm = await dependencies.registry.get<VirtualMachine>(target);
      if (vm === undefined) throw notFound(kubevirtGroup, 'virtualmachines', name);
      return jsonReply(await expand(vm, dependencies));
    },
  };
}

function expandVmSpec(dependencies: ExpandDependencies): ActionSubresource {
  const read = optionsReader<VirtualMachine>(dependencies.definitions, 'VirtualMachine');
  return {
    ...answered,
    servedUnder: [{ group: subresourcesGroup, versions }],
    resource: 'expand-vm-spec',
    name: '',
    verbs: ['update'],
    async handle(context) {
      if (context.body.length === 0) throw badRequest('the body must be the VirtualMachine to expand');
      const vm = read(context);
      const { namespace } = context.info;
      if (vm.metadata.namespace !== undefined && vm.metadata.namespace !== namespace)
        throw badRequest(
          `metadata.namespace is ${JSON.stringify(vm.metadata.namespace)}: it must be that of the request, or be left out`,
        );
      if (namespace !== undefined) vm.metadata.namespace = namespace;
      const faults = matcherCauses(vm, undefined);
      if (faults.length > 0) throw invalid(kubevirtGroup, 'VirtualMachine', vm.metadata.name, faults);
      return jsonReply(await expand(vm, dependencies));
    },
  };
}

/** Changes `vm`. Throws Invalid with a cause for each thing that can not be expanded. */
async function expand(
  vm: VirtualMachine,
  { registry, configuration: current }: ExpandDependencies,
): Promise<VirtualMachine> {
  if (vm.spec.instancetype === undefined && vm.spec.preference === undefined) return vm;
  const configuration = current();
  const { choice, missing } = await resolveReferences(vm, registry.lookups);
  const refuse = (causes: readonly StatusCause[]): ApiError =>
    invalid(kubevirtGroup, 'VirtualMachine', vm.metadata.name, causes);
  const causes = [...missing, ...spreadCauses(choice)];
  const expansion = expandTemplate(vm.spec.template, choice, configuration.network);
  if (expansion.kind === 'conflicts') throw refuse([...causes, ...conflictCauses(expansion.conflicts)]);
  if (causes.length > 0) throw refuse(causes);
  setTemplateDefaults(expansion.template.spec, configuration);
  vm.spec.template = expansion.template;
  delete vm.spec.instancetype;
  delete vm.spec.preference;
  delete vm.status?.instancetypeRef;
  delete vm.status?.preferenceRef;
  return vm;
}
