/**
 * `addvolume` and `removevolume` of a VirtualMachine. They change its template: at once, or, with the older feature gate, by a request in
 * its status that the VM controller carries out. A guest that runs has the change with its next start, as the VM's status then says.
 */
import type {
  AddVolumeOptions,
  KubeVirtConfiguration,
  RemoveVolumeOptions,
  VirtualMachine,
  VirtualMachineVolumeRequest,
  Volume,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import { isCarriedOut, requestedVolume, withVolumeRequests } from '../../openapi/volume-requests.js';
import { featureEnabled } from '../admission/configuration/feature-gates.js';
import { badRequest, conflict, notFound } from '../errors/api-error.js';
import type { Registry, Target } from '../registry/registry.js';
import type { Reply, RequestContext } from '../request.js';
import { kubevirtGroup, servedEverywhere } from './groups.js';
import type { ActionSubresource } from './interface.js';
import { isDryRun, optionsReader } from './options.js';
import { serverActor } from './server-user.js';

export interface VolumeDependencies {
  readonly registry: Pick<Registry, 'get' | 'guaranteedUpdate'>;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
}

const accepted: Reply = { kind: 'bytes', status: 202, contentType: 'application/json', chunks: [] };

export function volumeSubresources(dependencies: VolumeDependencies): readonly ActionSubresource[] {
  const { definitions } = dependencies;
  const readAddition = optionsReader<Partial<AddVolumeOptions>>(definitions, 'AddVolumeOptions');
  const readRemoval = optionsReader<Partial<RemoveVolumeOptions>>(definitions, 'RemoveVolumeOptions');
  return [
    action('addvolume', async (context) => {
      const options = readAddition(context);
      const { name = '', disk, volumeSource } = options;
      if (name === '') throw badRequest('name must say what the volume and its disk are called');
      if (disk === undefined) throw badRequest('disk must say how the guest sees the volume');
      const { persistentVolumeClaim, dataVolume } = volumeSource ?? {};
      if (volumeSource === undefined || (persistentVolumeClaim ?? dataVolume) === undefined)
        throw badRequest('volumeSource must have a persistentVolumeClaim or a dataVolume');
      const addVolumeOptions = { name, disk: { ...disk, name }, volumeSource };
      await carryOut(dependencies, context, { addVolumeOptions }, isDryRun(context, options));
      return accepted;
    }),
    action('removevolume', async (context) => {
      const options = readRemoval(context);
      const { name = '' } = options;
      if (name === '') throw badRequest('name must say which volume is removed');
      await carryOut(dependencies, context, { removeVolumeOptions: { name } }, isDryRun(context, options));
      return accepted;
    }),
  ];
}

function action(name: string, handle: ActionSubresource['handle']): ActionSubresource {
  return {
    type: 'action',
    resource: 'virtualmachines',
    namespaced: true,
    name,
    servedUnder: servedEverywhere,
    responseKind: { group: kubevirtGroup, version: 'v1', kind: 'VirtualMachine' },
    verbs: ['update'],
    handle,
  };
}

async function carryOut(
  { registry, configuration }: VolumeDependencies,
  context: RequestContext,
  request: VirtualMachineVolumeRequest,
  dryRun: boolean,
): Promise<void> {
  const byRequest = featureEnabled(configuration(), 'HotplugVolumes');
  if (!byRequest && !featureEnabled(configuration(), 'DeclarativeHotplugVolumes'))
    throw badRequest('this needs the feature gate DeclarativeHotplugVolumes or HotplugVolumes');
  const { namespace = '', name = '' } = context.info;
  const target: Target = { group: kubevirtGroup, resource: 'virtualmachines', namespace, name };
  if ((await registry.get<VirtualMachine>(target)) === undefined)
    throw notFound(kubevirtGroup, target.resource, name);
  const { status } = await registry.guaranteedUpdate<VirtualMachine>(
    target,
    (vm) => {
      const obstacle = obstacleTo(request, vm);
      if (obstacle !== undefined) throw conflict(kubevirtGroup, target.resource, name, obstacle);
      if (byRequest) ask(vm, request);
      else apply(vm, request);
    },
    serverActor(byRequest ? 'status' : undefined, dryRun),
  );
  if (status?.created === true)
    context.warn('the guest that runs now is left as it is: restart the VM to apply it');
}

/** Why this VM does not allow it. What else must fit, admission says. */
function obstacleTo(
  { addVolumeOptions: add, removeVolumeOptions: remove }: VirtualMachineVolumeRequest,
  { spec, status }: VirtualMachine,
): string | undefined {
  const volumes = spec.template.spec?.volumes ?? [];
  const open = status?.volumeRequests ?? [];
  if (add !== undefined) {
    if (open.some((each) => nameOf(each) === add.name))
      return `a request for volume ${add.name} is still being carried out`;
    if (volumes.some(({ name }) => name === add.name)) return `the VM has a volume ${add.name} already`;
    const source = claimOf(requestedVolume(add));
    const user = volumes.find((volume) => claimOf(volume) === source);
    if (user !== undefined) return `${source ?? ''} is already used by the VM's volume ${user.name}`;
  }
  if (remove !== undefined) {
    if (open.some((each) => each.removeVolumeOptions?.name === remove.name))
      return `a request to remove volume ${remove.name} is still being carried out`;
    if (open.some((each) => nameOf(each) === remove.name)) return undefined;
    const volume = volumes.find(({ name }) => name === remove.name);
    if (volume === undefined) return `the VM has no volume ${remove.name}`;
    const { persistentVolumeClaim, dataVolume } = volume;
    if ((persistentVolumeClaim ?? dataVolume)?.hotpluggable !== true)
      return `volume ${remove.name} is not hotpluggable: remove it from the VM's template`;
  }
  return undefined;
}

const nameOf = ({
  addVolumeOptions: add,
  removeVolumeOptions: remove,
}: VirtualMachineVolumeRequest): string | undefined => (add ?? remove)?.name;

const claimOf = ({ persistentVolumeClaim, dataVolume }: Volume): string | undefined =>
  persistentVolumeClaim?.claimName ?? dataVolume?.name;

function apply(vm: VirtualMachine, request: VirtualMachineVolumeRequest): void {
  const { template } = vm.spec;
  template.spec = withVolumeRequests(template.spec ?? { domain: { devices: {} } }, [request]);
}

/** A volume that is not to be added after all is not asked for any more. */
function ask(vm: VirtualMachine, request: VirtualMachineVolumeRequest): void {
  const before = vm.status?.volumeRequests ?? [];
  const others = before.filter((each) => nameOf(each) !== nameOf(request));
  const needless = isCarriedOut(request, vm.spec.template.spec);
  vm.status = { ...vm.status, volumeRequests: needless ? others : [...others, request] };
}
