/** Tokens of service accounts: JSON Web Tokens (ES256) that end by themselves, or with the object that they are bound to. */
import { createPublicKey, randomUUID, sign, verify, type KeyObject } from 'node:crypto';
import type { KubernetesObject } from '../../openapi/meta.js';
import { authenticatedGroup, type Authenticated } from './authenticator.js';
import type { TokenVerifier } from './bearer-token.js';

/** Who issues the tokens, and whom they are for unless they say otherwise. */
export const serviceAccountIssuer = 'https://kubernetes.default.svc';

interface Named {
  readonly name: string;
  readonly uid: string;
}

/** A token is good as long as this object is there. */
export interface BoundObject extends Named {
  readonly resource: 'pods' | 'secrets';
}

export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: Named;
  readonly bound?: BoundObject;
}

export interface IssuedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export interface ServiceAccountTokenOptions {
  /** P-256. */
  readonly key: KeyObject;
  /** The newest state of an object of the core group. */
  readonly get: (resource: string, namespace: string, name: string) => Promise<KubernetesObject | undefined>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly nbf: number;
  readonly iat: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: Named;
    readonly pod?: Named;
    readonly secret?: Named;
  };
}

const claimOf = { pods: 'pod', secrets: 'secret' } as const;
const signature = { dsaEncoding: 'ieee-p1363' } as const;

export class ServiceAccountTokens implements TokenVerifier {
  readonly #public: KeyObject;
  readonly #header = encode({ alg: 'ES256', typ: 'JWT' });

  constructor(private readonly options: ServiceAccountTokenOptions) {
    this.#public = createPublicKey(options.key);
  }

  issue(subject: TokenSubject, audiences: readonly string[], seconds: number): IssuedToken {
    const { namespace, serviceAccount, bound } = subject;
    const now = Math.floor(this.options.now() / 1000);
    const claims: Claims = {
      iss: serviceAccountIssuer,
      sub: userName(namespace, serviceAccount.name),
      aud: audiences,
      exp: now + seconds,
      nbf: now,
      iat: now,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace,
        serviceaccount: serviceAccount,
        ...(bound === undefined ? {} : { [claimOf[bound.resource]]: { name: bound.name, uid: bound.uid } }),
      },
    };
    const content = `${this.#header}.${encode(claims)}`;
    const bytes = sign('sha256', Buffer.from(content), { key: this.options.key, ...signature });
    return { token: `${content}.${bytes.toString('base64url')}`, expires: claims.exp };
  }

  async verify(token: string): Promise<Authenticated | undefined> {
    const claims = this.#claims(token);
    if (claims === undefined) return undefined;
    const { namespace, serviceaccount, pod, secret } = claims['kubernetes.io'];
    const holds = [
      this.#exists('serviceaccounts', namespace, serviceaccount),
      ...(pod === undefined ? [] : [this.#exists('pods', namespace, pod)]),
      ...(secret === undefined ? [] : [this.#exists('secrets', namespace, secret)]),
    ];
    if (!(await Promise.all(holds)).every((there) => there)) return undefined;
    return {
      user: {
        name: claims.sub,
        uid: serviceaccount.uid,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
        extra: {
          'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
          ...(pod === undefined
            ? {}
            : {
                'authentication.kubernetes.io/pod-name': [pod.name],
                'authentication.kubernetes.io/pod-uid': [pod.uid],
              }),
        },
      },
    };
  }

  /** Of a token that this server signed for itself, and whose time it is. */
  #claims(token: string): Claims | undefined {
    const [header, payload, bytes, ...more] = token.split('.');
    if (header !== this.#header || payload === undefined || bytes === undefined || more.length > 0)
      return undefined;
    const key = { key: this.#public, ...signature };
    const signed = Buffer.from(`${header}.${payload}`);
    if (!verify('sha256', signed, key, Buffer.from(bytes, 'base64url'))) return undefined;
    // Nobody else has the key: what it signed is what `issue` wrote.
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
    const now = this.options.now() / 1000;
    const good = claims.aud.includes(serviceAccountIssuer) && claims.nbf <= now && now < claims.exp;
    return good ? claims : undefined;
  }

  async #exists(resource: string, namespace: string, { name, uid }: Named): Promise<boolean> {
    return (await this.options.get(resource, namespace, name))?.metadata.uid === uid;
  }
}

function userName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
