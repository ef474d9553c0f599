/** Names that KubeVirt gives to what admission writes on a migration. */
export const migrationFinalizer = 'kubevirt.io/migrationJobFinalize';
/** Its value is the VMI's name. */
export const migrationLabel = 'kubevirt.io/vmi-name';
