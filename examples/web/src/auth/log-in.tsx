export function LogIn() {
  return null;
}
