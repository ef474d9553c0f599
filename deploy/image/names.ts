/** Names of the images, as the manifests give them to kubelets. */

/** Where nothing else is said. Images that were loaded from archives are never looked for there. */
export const defaultRegistry = 'nativirt.io';

export const imageName = (name: string, registry = defaultRegistry): string => `${registry}/${name}`;
