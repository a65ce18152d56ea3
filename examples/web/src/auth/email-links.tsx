export function ConfirmEmail() {
  return null;
}

export function UndoEmailChange() {
  return null;
}
