export const nativirtVersion = '0.1.0';
