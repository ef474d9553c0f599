/** The few ASN.1 shapes that a certificate is made of, as functions that return node-forge's tree. */
import forge from 'node-forge';

const { asn1 } = forge;
const { Class, Type } = asn1;
export type Der = forge.asn1.Asn1;

export function encode(tree: Der): Buffer {
  return Buffer.from(asn1.toDer(tree).getBytes(), 'binary');
}

/** Bytes that are DER already. */
export function embed(der: Buffer): Der {
  return asn1.fromDer(forge.util.createBuffer(der.toString('binary')));
}

export function sequence(...items: readonly Der[]): Der {
  return asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [...items]);
}

export function set(...items: readonly Der[]): Der {
  return asn1.create(Class.UNIVERSAL, Type.SET, true, [...items]);
}

export function oid(dotted: string): Der {
  return asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(dotted).getBytes());
}

/** A positive integer from its bytes, most significant first; the first byte must be below 0x80. */
export function integer(bytes: Buffer): Der {
  return asn1.create(Class.UNIVERSAL, Type.INTEGER, false, bytes.toString('binary'));
}

export function boolean(value: boolean): Der {
  return asn1.create(Class.UNIVERSAL, Type.BOOLEAN, false, value ? '\xff' : '\0');
}

export function utf8(text: string): Der {
  return asn1.create(Class.UNIVERSAL, Type.UTF8, false, Buffer.from(text, 'utf8').toString('binary'));
}

export function octets(bytes: Buffer): Der {
  return asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, bytes.toString('binary'));
}

/** @param unused how many low bits of the last byte mean nothing */
export function bits(bytes: Buffer, unused = 0): Der {
  const value = Buffer.concat([Buffer.from([unused]), bytes]);
  return asn1.create(Class.UNIVERSAL, Type.BITSTRING, false, value.toString('binary'));
}

/** node-forge types every tag as a universal one; context tags are the same numbers. */
const contextTags = { 0: Type.NONE, 2: Type.INTEGER, 3: Type.BITSTRING, 7: Type.ODESC } as const;
export type ContextTag = keyof typeof contextTags;

/** `[tag] EXPLICIT`. */
export function explicit(tag: ContextTag, inner: Der): Der {
  return asn1.create(Class.CONTEXT_SPECIFIC, contextTags[tag], true, [inner]);
}

/** `[tag] IMPLICIT` of a primitive type. */
export function implicit(tag: ContextTag, bytes: Buffer): Der {
  return asn1.create(Class.CONTEXT_SPECIFIC, contextTags[tag], false, bytes.toString('binary'));
}

/** X.509 wants UTCTime until 2049 and GeneralizedTime from then on. */
export function time(date: Date): Der {
  return date.getUTCFullYear() < 2050
    ? asn1.create(Class.UNIVERSAL, Type.UTCTIME, false, asn1.dateToUtcTime(date))
    : asn1.create(Class.UNIVERSAL, Type.GENERALIZEDTIME, false, asn1.dateToGeneralizedTime(date));
}
