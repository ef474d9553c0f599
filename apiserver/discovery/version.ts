/** `/version`: what kubectl compares itself with. */
import type { Handler } from '../request.js';
import { jsonDocument, serveDocument } from './document.js';

/**
 * The Kubernetes version whose API this server claims to follow. `kubectl version` warns when client and server are more
 * than one minor version apart, so no choice is silent for all of 1.30 to 1.36: this one is for 1.34 to 1.36. Nothing but
 * that command looks at it, and in a cluster kube-apiserver answers this path itself.
 */
export const kubernetesVersion = { major: '1', minor: '35' } as const;

export interface BuildInfo {
  /** Our own version: `0.1.0`. */
  readonly version: string;
  readonly gitCommit?: string;
  readonly buildDate?: string;
}

export interface VersionInfo {
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
  readonly [more: string]: string;
}

export function versionInfo(build: BuildInfo): VersionInfo {
  const { major, minor } = kubernetesVersion;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: minor,
    gitVersion: `v${major}.${minor}.0+nativirt-${build.version}`,
    gitCommit: build.gitCommit ?? '',
    gitTreeState: 'clean',
    buildDate: build.buildDate ?? '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

export function versionHandler(build: BuildInfo): Handler {
  const document = jsonDocument(versionInfo(build));
  return (context) => Promise.resolve(serveDocument(context, document));
}
