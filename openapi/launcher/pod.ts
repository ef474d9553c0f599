/** Names in a launcher pod that its makers, the launcher and the node agent must agree on. */

/** The label by which launcher pods are told from others. */
export const launcherLabel = 'kubevirt.io';
export const launcherLabelValue = 'virt-launcher';

/** The container that runs the launcher. */
export const computeContainer = 'compute';
/** The emptyDir that is the pod directory (`podLayout`). */
export const privateVolume = 'nativirt-private';
/** Where the pod directory is in the launcher's container. */
export const podDirectory = '/var/run/nativirt';
/** Block claims are `<this>/<volume>` in the launcher's container. */
export const blockDeviceDirectory = '/dev/nativirt';
/** The user and group that launchers run as: `qemu` of their image. */
export const launcherUser = 107;

/** The program that keeps a container of a disk image alive, so that its files can be read: a static executable. */
export const imageHolder = {
  /** In the launcher's image. */
  source: '/usr/lib/nativirt/image-holder',
  /** The emptyDir that shares it with the other containers of the pod, and where they see it. */
  volume: 'nativirt-image-holder',
  directory: '/nativirt-image-holder',
  path: '/nativirt-image-holder/image-holder',
} as const;

/** The container that holds the image of a containerDisk volume. It is the only argument of its image holder. */
export const imageContainer = (volume: string): string => `volume${volume}`;
/** The container that holds the image of `firmware.kernelBoot`. */
export const kernelBootContainer = 'kernel-boot';

/** The pod condition that its readiness waits for: false while its guest is paused. */
export const unpausedGate = 'kubevirt.io/virtual-machine-unpaused';

/** Resources that a node's device plugins hand out. */
export const deviceResources = {
  kvm: 'devices.kubevirt.io/kvm',
  tun: 'devices.kubevirt.io/tun',
  vhostNet: 'devices.kubevirt.io/vhost-net',
} as const;

/** The volume with the secret of `spec.accessCredentials[index]`. */
export const accessCredentialVolume = (index: number): string => `nativirt-access-credential-${index}`;
