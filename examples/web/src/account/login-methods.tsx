export function LoginMethods() {
  return null;
}
