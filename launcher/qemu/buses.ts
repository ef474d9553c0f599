/** The ids of controllers that devices of several concerns are on. */
export const usbController = 'usb';
export const scsiController = 'scsi0';
export const serialController = 'virtio-serial0';

/** Ports of the AHCI controller that is part of q35; each further controller has as many. */
export const sataPorts = 6;
