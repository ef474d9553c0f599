/** Names that KubeVirt gives to what admission writes, kept so that its tools keep working. */
export const virtualMachineInstanceFinalizer = 'kubevirt.io/foregroundDeleteVirtualMachine';
export const pciTopologyAnnotation = 'kubevirt.io/pci-topology-version';
export const pciTopologyVersion = 'v3';
export const emulatorThreadParityAnnotation = 'alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity';
export const quoteGenerationSocketAnnotation = 'kubevirt.io/qgs-socket-path';
export const presetExclusionAnnotation = 'virtualmachineinstancepresets.admission.kubevirt.io/exclude';
/** The user that launchers and QEMU run as. */
export const nonRootUser = 107;
