/** KubeVirt's names on pods, by which its tools and other components know them. */
export const appLabel = 'kubevirt.io';
export const launcherApp = 'virt-launcher';
export const hotplugApp = 'hotplug-disk';
/** The name of the VMI that a launcher pod runs. */
export const domainAnnotation = 'kubevirt.io/domain';
