/** How long certificates live: none longer than the authority that signed it, and each is renewed before it ends. */
import type { KubeVirtSelfSignConfiguration } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { parseDurationMs } from '../../../../openapi/duration.js';
import { invalid, notSupported, type FieldPath } from '../../causes.js';
import { specPath, type KubeVirtRule } from './rule.js';

const day = 24 * 3600 * 1000;
const defaultLife = { ca: 7 * day, server: day };
/** Of its life, what a certificate has left when it is renewed by default. */
const defaultRenewal = 0.2;

/** A duration as it was written, and its length: the default's if it was not. */
interface Span {
  readonly text: string;
  readonly milliseconds: number;
}

const at = specPath.child('certificateRotateStrategy', 'selfSigned');

export const certificates: KubeVirtRule = ({ certificateRotateStrategy }) => {
  const config = certificateRotateStrategy?.selfSigned;
  if (config === undefined) return [];
  const faults = unreadable(config);
  if (faults.length > 0) return faults;
  const { ca, server, caRotateInterval, caOverlapInterval, certRotateInterval } = config;
  // The older fields win, so that an upgrade changes nothing.
  const authority = lifeOf(
    caRotateInterval ?? ca?.duration,
    caOverlapInterval ?? ca?.renewBefore,
    defaultLife.ca,
  );
  const certificate = lifeOf(certRotateInterval ?? server?.duration, server?.renewBefore, defaultLife.server);
  const causes = [
    ...mixed(config),
    ...renewalCauses(authority, at.child('ca')),
    ...renewalCauses(certificate, at.child('server')),
  ];
  if (certificate.duration.milliseconds > authority.duration.milliseconds) {
    causes.push(
      invalid(
        at.child('server', 'duration'),
        `${certificate.duration.text} must not be longer than the authority's, ${authority.duration.text}`,
      ),
    );
  }
  return causes;
};

const olderFields = ['caRotateInterval', 'caOverlapInterval', 'certRotateInterval'] as const;

function unreadable(config: KubeVirtSelfSignConfiguration): StatusCause[] {
  const durations = [
    ...olderFields.map((name) => ({ place: at.child(name), text: config[name] })),
    ...(['ca', 'server'] as const).flatMap((owner) =>
      (['duration', 'renewBefore'] as const).map((name) => ({
        place: at.child(owner, name),
        text: config[owner]?.[name],
      })),
    ),
  ];
  return durations
    .filter(({ text }) => text !== undefined && parseDurationMs(text) === undefined)
    .map(({ place, text }) => invalid(place, `${JSON.stringify(text)} is no duration such as 24h or 30m`));
}

function mixed(config: KubeVirtSelfSignConfiguration): StatusCause[] {
  if (config.ca === undefined && config.server === undefined) return [];
  return olderFields
    .filter((name) => config[name] !== undefined)
    .map((name) => notSupported(at.child(name), 'is deprecated and excludes ca and server: use those alone'));
}

interface Life {
  readonly duration: Span;
  readonly renewBefore: Span;
}

function lifeOf(duration: string | undefined, renewBefore: string | undefined, fallBack: number): Life {
  const whole = spanOf(duration, fallBack);
  return { duration: whole, renewBefore: spanOf(renewBefore, whole.milliseconds * defaultRenewal) };
}

function spanOf(text: string | undefined, fallBack: number): Span {
  const milliseconds = parseDurationMs(text ?? '');
  return text === undefined || milliseconds === undefined
    ? { text: `${fallBack / 1000}s by default`, milliseconds: fallBack }
    : { text, milliseconds };
}

function renewalCauses({ duration, renewBefore }: Life, place: FieldPath): StatusCause[] {
  if (renewBefore.milliseconds <= duration.milliseconds) return [];
  return [
    invalid(
      place.child('renewBefore'),
      `${renewBefore.text} must not be longer than the duration, ${duration.text}`,
    ),
  ];
}
