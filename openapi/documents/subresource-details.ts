/** What the subresources take and answer, by the plural of their resource. Names of definitions are full. */

export interface SubresourceDetails {
  readonly description: string;
  readonly body?: { readonly definition: string; readonly required: boolean };
  /** Absent: text, or a stream. */
  readonly response?: string;
  /** A stream: the connection is upgraded to a WebSocket. */
  readonly connect?: true;
  readonly query?: readonly QueryParameter[];
  /** Path segments behind the name that are data; one operation for each. */
  readonly suffixes?: readonly string[];
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer';
  readonly description: string;
}

const kubevirt = (name: string): string => `io.kubevirt.v1.${name}`;
const backup = (name: string): string => `io.kubevirt.backup.v1alpha1.${name}`;

function action(description: string, body?: string, required = false): SubresourceDetails {
  return body === undefined ? { description } : { description, body: { definition: body, required } };
}

function stream(description: string, ...query: readonly QueryParameter[]): SubresourceDetails {
  return { description, connect: true, query };
}

const ports: SubresourceDetails = {
  ...stream('Open a stream to a port of the guest.'),
  suffixes: ['/{port}', '/{port}/{protocol}'],
};
const objectGraph: SubresourceDetails = {
  description: 'Read the graph of objects that the virtual machine depends on.',
  response: kubevirt('ObjectGraphNode'),
};
const addVolume = action('Add a volume and its disk.', kubevirt('AddVolumeOptions'), true);
const removeVolume = action('Remove a volume and its disk.', kubevirt('RemoveVolumeOptions'), true);
const cancelEvacuation = action('Call off an evacuation.', kubevirt('EvacuateCancelOptions'));

/** Of an instance, and of a virtual machine through its instance. */
const runningGuest: Readonly<Record<string, SubresourceDetails>> = {
  console: stream('Open the serial console.'),
  vnc: stream('Open the graphical console.', {
    name: 'preserveSession',
    type: 'boolean',
    description: 'Refuse the new connection rather than end the one that is open.',
  }),
  'vnc/screenshot': {
    description: 'Take a picture of the screen, as PNG.',
    query: [
      {
        name: 'moveCursor',
        type: 'boolean',
        description: 'Move the pointer first, to wake a sleeping screen.',
      },
    ],
  },
  usbredir: stream('Attach a USB device of the client.'),
  vsock: stream(
    'Open a VSOCK stream to the guest.',
    { name: 'port', type: 'integer', description: 'The VSOCK port.' },
    { name: 'tls', type: 'boolean', description: 'Whether the stream is encrypted to the guest.' },
  ),
  portforward: ports,
  pause: action('Pause the guest.', kubevirt('PauseOptions')),
  unpause: action('Let a paused guest go on.', kubevirt('UnpauseOptions')),
  freeze: action('Freeze the file systems of the guest.', kubevirt('FreezeUnfreezeTimeout')),
  unfreeze: action('Thaw the file systems of the guest.'),
  softreboot: action('Ask the guest to reboot.'),
  reset: action('Reset the guest as its reset button would.'),
  guestosinfo: {
    description: 'Read what the guest agent says of the operating system.',
    response: kubevirt('VirtualMachineInstanceGuestAgentInfo'),
  },
  userlist: {
    description: 'Read who is logged in to the guest.',
    response: kubevirt('VirtualMachineInstanceGuestOSUserList'),
  },
  filesystemlist: {
    description: 'Read the file systems of the guest.',
    response: kubevirt('VirtualMachineInstanceFileSystemList'),
  },
  objectgraph: objectGraph,
};

const virtualMachine: Readonly<Record<string, SubresourceDetails>> = {
  start: action('Start the virtual machine.', kubevirt('StartOptions')),
  stop: action('Stop the virtual machine.', kubevirt('StopOptions')),
  restart: action('Stop the virtual machine and start it again.', kubevirt('RestartOptions')),
  migrate: action('Move the running virtual machine to another node.', kubevirt('MigrateOptions')),
  addvolume: addVolume,
  removevolume: removeVolume,
  memorydump: action(
    'Write the memory of the guest to a claim.',
    kubevirt('VirtualMachineMemoryDumpRequest'),
    true,
  ),
  removememorydump: action('Remove the memory dump from the virtual machine.'),
  'evacuate/cancel': cancelEvacuation,
  'expand-spec': {
    description: 'Read the virtual machine with its instancetype and preference applied.',
    response: kubevirt('VirtualMachine'),
  },
  ...runningGuest,
};

const virtualMachineInstance: Readonly<Record<string, SubresourceDetails>> = {
  ...runningGuest,
  addvolume: addVolume,
  removevolume: removeVolume,
  backup: action('Start a backup of the disks.', backup('BackupOptions'), true),
  'redefine-checkpoint': action(
    'Tell the guest’s disks of a checkpoint again.',
    backup('BackupCheckpoint'),
    true,
  ),
  'evacuate/cancel': cancelEvacuation,
  'sev/fetchcertchain': {
    description: 'Read the certificates of the SEV platform.',
    response: kubevirt('SEVPlatformInfo'),
  },
  'sev/querylaunchmeasurement': {
    description: 'Read the launch measurement of an SEV guest.',
    response: kubevirt('SEVMeasurementInfo'),
  },
  'sev/setupsession': action('Set up the session of an SEV guest.', kubevirt('SEVSessionOptions'), true),
  'sev/injectlaunchsecret': action('Give an SEV guest its secret.', kubevirt('SEVSecretOptions'), true),
};

const pods: Readonly<Record<string, SubresourceDetails>> = {
  binding: action('Bind the pod to a node.', 'io.k8s.api.core.v1.Binding', true),
  eviction: action('Evict the pod, if its disruption budget allows.', 'io.k8s.api.policy.v1.Eviction', true),
};

const details: Readonly<Record<string, Readonly<Record<string, SubresourceDetails>>>> = {
  virtualmachines: virtualMachine,
  virtualmachineinstances: virtualMachineInstance,
  'expand-vm-spec': {
    '': {
      ...action(
        'Apply the instancetype and preference of a virtual machine that is sent.',
        kubevirt('VirtualMachine'),
        true,
      ),
      response: kubevirt('VirtualMachine'),
    },
  },
  pods,
  version: { '': { description: 'Read which version of the API this server follows.' } },
  guestfs: { '': { description: 'Read where the image of the tools for guests’ disks comes from.' } },
  healthz: { '': { description: 'Read whether the server is well.' } },
  namespaces: {
    finalize: {
      ...action('Replace the finalizers of the namespace.', 'io.k8s.api.core.v1.Namespace', true),
      response: 'io.k8s.api.core.v1.Namespace',
    },
  },
  serviceaccounts: {
    token: {
      ...action('Make a token for the service account.', 'io.k8s.api.authentication.v1.TokenRequest', true),
      response: 'io.k8s.api.authentication.v1.TokenRequest',
    },
  },
};

/** One that is not in the table is published without a body and with an answer of text. */
export function subresourceDetails(plural: string, name: string): SubresourceDetails {
  return details[plural]?.[name] ?? { description: `The ${name} subresource.` };
}

/** Every definition that the table names, for the test that they exist. */
export function namedDefinitions(): string[] {
  return Object.values(details)
    .flatMap((group) => Object.values(group))
    .flatMap(({ body, response }) => [body?.definition, response])
    .filter((name) => name !== undefined);
}
