import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { namesOfSido, type PlaceName, placesOf, sidos } from './region-table.ts';
import type { Region } from './schemas.ts';

/** What may stand in front of an address: the country and the postal code. */
const prefix =
  /^(?:[\s,]|대한민국|한국(?=[\s,])|\(?우(?:편번호)?[).: ]*(?=[([]?\d)|[([]?(?:\d{5}|\d{3}-\d{3})(?!\d)[)\]]?)+/;

/** A dong at the start of a text: 을지로3가, 성수동 2가; 역삼1동, 종로1·2·3·4가동, 성수2가제3동; 망원동, 양서면. */
const dongPattern =
  /^[\s,]*([가-힣]{1,6}(?:[동로]\s)?\d{1,2}가|[가-힣]{1,6}\d{1,2}(?:[.·]\d{1,2}){0,4}(?:가제?\d?)?동|[가-힣]{1,7}[동읍면])(?![가-힣])/;

/** Parts of buildings that end like a dong. */
const building =
  /아파트|빌라|맨션|주공|타운|단지|연립|오피스텔|빌딩|상가|관리|주차|공장|^[가나라바아자차카타]동$/;
/** These letters are names of dong as well. */
const buildingOrLetter = new RegExp(`${building.source}|^[다마사파하]동$`);

const road = /^[\s,]*[가-힣A-Za-z\d.·]+[로길](?![가-힣])/;
const boundary = /^(?:[\s,(\d]|$)/;
const places = [...placesOf.values()].flat();
const wholeNames = places.filter(({ isShort }) => !isShort);

type Place = Pick<Region, 'sido' | 'sigungu'> & { rest: string };

/** Reads the region of an address as people write it, by road or by lot, whatever the spaces. What is not certain stays empty. */
export function readRegion(address: string): Region {
  const text = address.replace(prefix, '');
  const place = readSido(text) ?? readSigungu(text, { names: places }) ?? readSecondWord(text);
  if (place === undefined) {
    // A short one may be another word, as in 이동 카페.
    const dong = dongAt(text, buildingOrLetter);
    return { sido: '', sigungu: '', dong: dong.length > 2 ? dong : '' };
  }
  const { sido, sigungu, rest } = place;
  const inBrackets = [...rest.matchAll(/\(([^)]*)/g)].flatMap(([, inside = '']) => inside.split(','));
  const dong = dongAt(rest, sigungu === '' ? buildingOrLetter : building);
  const dongs = [dong, ...inBrackets.map((part) => dongAt(part, buildingOrLetter))];
  return { sido, sigungu, dong: dongs.find((one) => one !== '') ?? '' };
}

export type ReadAddress = ReturnType<typeof createAddressReader>;
/** Reads the regions of addresses into the columns of a store, and counts those that tell neither province nor district. */
export function createAddressReader({ addCounter }: Pick<Metrics, 'addCounter'>) {
  const help = 'Addresses of stores that were read and tell neither province nor district';
  const unread = addCounter('store_addresses_unread_total', help);
  return (address: string) => {
    const region = readRegion(address);
    if (address !== '' && region.sido === '' && region.sigungu === '') unread.inc();
    return { ...region, region_keys: regionKeys(region) };
  };
}

/** The words of a search that find a store there. The short name of the province is always among them, also an empty one. */
export function regionKeys({ sido, sigungu, dong }: Region): string[] {
  // A search for 망원동 finds 망원1동, too.
  const names = [...sigungu.split(' '), dong, dong.replace(/\d[\d.·]*동$/, '동')];
  const stems = names.map((name) => name.replace(/(?<=..)[시군구동읍면가]$/, ''));
  const words = [...(namesOfSido.get(sido) ?? []), sigungu.replace(' ', ''), ...names, ...stems];
  return [...new Set([sido, ...words.filter((word) => word !== '')])];
}

function readSido(text: string): Place | undefined {
  for (const { sido, pattern, needs } of sidos) {
    const rest = text.replace(pattern, '');
    if (rest === text) continue;
    const isSeparate = /^[\s,]/.test(rest);
    // Also of another province, as 군위군 was until 2023.
    const place =
      readSigungu(rest, { names: placesOf.get(sido) ?? [], hasSido: true }) ??
      (isSeparate && readSigungu(rest, { names: places }));
    if (place && place.sido !== '') return place;
    const hasDong = dongAt(rest, building) !== '';
    const isAddress = rest === '' || (isSeparate && (hasDong || road.test(rest)));
    const isLong = needs === 'nothing' && (hasDong || boundary.test(rest));
    if (isLong || (needs === 'address' && isAddress)) return { sido, sigungu: '', rest };
  }
  return undefined;
}

/** Reads the name of a city, county or district. One that several provinces have leaves the province empty. */
function readSigungu(text: string, { names, hasSido = false }: { names: PlaceName[]; hasSido?: boolean }) {
  const matches = names.flatMap((name) => {
    const length = name.pattern.exec(text)?.[0].length;
    return length === undefined ? [] : [{ ...name, rest: text.slice(length) }];
  });
  const shortest = Math.min(...matches.map(({ rest }) => rest.length));
  const [match, ...others] = matches.filter(({ rest }) => rest.length === shortest);
  if (match === undefined) return undefined;
  const { sido, sigungu, isShort, rest } = match;
  const dong = dongAt(rest, building);
  const isUnique = others.length === 0;
  const place = isUnique ? { sido, sigungu, rest } : { sido: '', sigungu: sigungu.replace(/.* /, ''), rest };
  const isSure = isShort ? !sigungu.endsWith('구') : road.test(rest) || boundary.test(rest);
  if (hasSido) return dong !== '' || isSure ? place : undefined;
  // The other 광주 has neither 읍 nor 면.
  if (sigungu === '광주시') return /[읍면]$/.test(dong) ? place : undefined;
  if (isShort) return isUnique && dong !== '' ? place : undefined;
  const isAddress = road.test(rest) && (boundary.test(rest) || sigungu.length > 2);
  return dong !== '' || isAddress || (isUnique && boundary.test(rest)) ? place : undefined;
}

/** Reads the whole name of a city, county or district that only one province has, after a word that may be anything. */
function readSecondWord(text: string): Place | undefined {
  const place = readSigungu(text.replace(/^\S+\s+/, ''), { names: wholeNames });
  return place?.sido ? place : undefined;
}

/** The dong at the start of a text, unless it is a part of a building; otherwise empty. */
function dongAt(text: string, ofBuilding: RegExp): string {
  const dong = dongPattern.exec(text)?.[1]?.replace(/\s/, '') ?? '';
  return ofBuilding.test(dong) ? '' : dong;
}
