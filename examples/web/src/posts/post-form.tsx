export function NewPost() {
  return null;
}

export function EditPost() {
  return null;
}
