/** The icon of the pages that the service shows: two circles that overlap, as SVG. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f6f4a"/><g fill="none" stroke="#fff" stroke-width="3"><circle cx="12.5" cy="16" r="6.5"/><circle cx="19.5" cy="16" r="6.5"/></g></svg>';
