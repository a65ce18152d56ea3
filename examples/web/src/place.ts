import type { Texts } from './texts/ko.ts';

/** Where this device is. Asks the user; call it from a button. @throws GeolocationPositionError */
export async function currentPlace(): Promise<{ latitude: number; longitude: number }> {
  const { coords } = await new Promise<GeolocationPosition>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(resolve, reject, { timeout: 10_000, maximumAge: 60_000 });
  });
  return { latitude: coords.latitude, longitude: coords.longitude };
}

/** In metres, as map services count. */
const walkedInAMinute = 67;
const longestWalk = 30;

/** How far it is to walk, and for what is too far the kilometres. */
export function describeDistance(metres: number, t: Texts): string {
  const minutes = Math.max(1, Math.round(metres / walkedInAMinute));
  return minutes > longestWalk
    ? t.distance.far((metres / 1_000).toFixed(metres < 10_000 ? 1 : 0))
    : t.distance.walk(minutes);
}
