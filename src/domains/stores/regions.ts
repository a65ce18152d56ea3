import type { Region } from './schemas.ts';

/*
 * Names of provinces, the short one first, and their cities, counties and districts (시·군·구), with the districts of a city after a
 * colon. Former names stand before the present ones; by rule, a 시 was a 군 of its name before, and what was divided has the name of
 * the city. From the codes of legal dong of the Ministry of the Interior and Safety (법정동코드, 행정표준코드관리시스템,
 * https://www.code.go.kr), as of 1 July 2026. Since then 인천 has 제물포구, 영종구, 서해구 and 검단구; 중구 and 서구, which were divided,
 * stay in addresses.
 */
const table = {
  '서울 서울특별시 서울시':
    '종로구 중구 용산구 성동구 광진구 동대문구 중랑구 성북구 강북구 도봉구 노원구 은평구 서대문구 마포구 양천구 강서구 구로구 금천구 ' +
    '영등포구 동작구 관악구 서초구 강남구 송파구 강동구',
  '부산 부산광역시 부산시':
    '중구 서구 동구 영도구 부산진구 동래구 남구 북구 해운대구 사하구 금정구 강서구 연제구 수영구 사상구 기장군',
  '대구 대구광역시 대구시': '중구 동구 서구 남구 북구 수성구 달서구 달성군 군위군',
  '인천 인천광역시 인천시':
    '제물포구 영종구 서해구 검단구 미추홀구 연수구 남동구 부평구 계양구 강화군 옹진군 중구 서구 ' +
    '남구>미추홀구 동구>제물포구',
  '광주 광주광역시 광주시 전남광주통합특별시 전남광주 광주특별시': '동구 서구 남구 북구 광산구',
  '대전 대전광역시 대전시': '동구 중구 서구 유성구 대덕구',
  '울산 울산광역시 울산시': '중구 남구 동구 북구 울주군',
  '세종 세종특별자치시 세종시': '연기군>',
  '경기 경기도':
    '수원시:장안구,권선구,팔달구,영통구 성남시:수정구,중원구,분당구 안양시:만안구,동안구 부천시:원미구,소사구,오정구 ' +
    '안산시:상록구,단원구 고양시:덕양구,일산동구,일산서구 용인시:처인구,기흥구,수지구 화성시:만세구,효행구,병점구,동탄구 ' +
    '의정부시 광명시 평택시 동두천시 과천시 구리시 남양주시 오산시 시흥시 군포시 의왕시 하남시 파주시 이천시 안성시 김포시 광주시 ' +
    '양주시 포천시 여주시 연천군 가평군 양평군 송탄시>평택시 미금시>남양주시 고양시_일산구>고양시',
  '강원 강원특별자치도 강원도':
    '춘천시 원주시 강릉시 동해시 태백시 속초시 삼척시 홍천군 횡성군 영월군 평창군 정선군 철원군 화천군 양구군 인제군 고성군 양양군 ' +
    '명주군>강릉시',
  '충북 충청북도':
    '청주시:상당구,서원구,흥덕구,청원구 충주시 제천시 보은군 옥천군 영동군 증평군 진천군 괴산군 음성군 단양군 ' +
    '청원군>청주시 중원군>충주시',
  '충남 충청남도':
    '천안시:동남구,서북구 공주시 보령시 아산시 서산시 논산시 계룡시 당진시 금산군 부여군 서천군 청양군 홍성군 예산군 태안군 ' +
    '온양시>아산시 대천시>보령시',
  '전북 전북특별자치도 전라북도':
    '전주시:완산구,덕진구 군산시 익산시 정읍시 남원시 김제시 완주군 진안군 무주군 장수군 임실군 순창군 고창군 부안군 ' +
    '이리시>익산시 옥구군>군산시 정주시>정읍시',
  '전남 전라남도 전남광주통합특별시 전남광주 광주특별시':
    '목포시 여수시 순천시 나주시 광양시 담양군 곡성군 구례군 고흥군 보성군 화순군 장흥군 강진군 해남군 영암군 무안군 함평군 영광군 ' +
    '장성군 완도군 진도군 신안군 승주군>순천시 동광양시>광양시 여천시>여수시',
  '경북 경상북도':
    '포항시:남구,북구 경주시 김천시 안동시 구미시 영주시 영천시 상주시 문경시 경산시 의성군 청송군 영양군 영덕군 청도군 고령군 성주군 ' +
    '칠곡군 예천군 봉화군 울진군 울릉군 영일군>포항시 금릉군>김천시 선산군>구미시 점촌시>문경시',
  '경남 경상남도':
    '창원시:의창구,성산구,마산합포구,마산회원구,진해구 진주시 통영시 사천시 김해시 밀양시 거제시 양산시 의령군 함안군 창녕군 고성군 ' +
    '남해군 하동군 산청군 함양군 거창군 합천군 마산시>창원시 진해시>창원시_진해구 충무시>통영시 장승포시>거제시 ' +
    '삼천포시>사천시 진양군>진주시',
  '제주 제주특별자치도 제주도': '제주시 서귀포시 북제주군>제주시 남제주군>서귀포시',
};

/** 광주 and 전남 are one since July 2026, and 경기 has a 광주시: these names count only where a 시·군·구 tells which of them it is. */
const sharedNames = ['전남광주통합특별시', '전남광주', '광주특별시', '광주시', '광주'];

interface SidoName {
  sido: string;
  /** Matches the name at the start of a text. */
  pattern: RegExp;
  /** How much must follow, so that 대구탕집 is not 대구: nothing, a part of an address, or a 시·군·구. */
  needs: 'nothing' | 'address' | 'sigungu';
}

/** A name of a city, county or district. */
interface PlaceName {
  sido: string;
  /** 마포구; 성남시 분당구. */
  sigungu: string;
  /** Matches the name at the start of a text; of a district also without its city. */
  pattern: RegExp;
  /** Whether it is without 시, 군 or 구, as in 강원 춘천. */
  isShort: boolean;
}

const atStart = (name: string) => new RegExp(`^[\\s,]*${name}`);

function sidoNames(names: string): SidoName[] {
  const [sido = ''] = names.split(' ');
  // 강원자치도, 제주도, 서울 특별시; 부산직할시 until 1995.
  const spellings = (name: string) =>
    name.replace(/통합|특별|자치/g, '(?:\\s*$&)?').replace('광역', '\\s*(?:광역|직할)');
  return names
    .split(' ')
    .map((name) => ({
      sido,
      pattern: atStart(`${spellings(name)}${sido === '세종' ? '(?:\\s*세종시)?' : ''}`),
      needs: sharedNames.includes(name) ? 'sigungu' : name === sido ? 'address' : 'nothing',
    }));
}

function placeNames(sido: string, names: string): PlaceName[] {
  const [name = '', present] = names.replace('_', ' ').split('>');
  const [city = '', ...districts] = name.split(/[:,]/);
  const sigungu = present ?? city;
  const stem = city.slice(0, -1);
  // 부산진구 is 진구 in its city.
  const whole = city.replace('부산', '(?:부산)?').replace(' ', '\\s*').replace(/시$/, '[시군]');
  return [
    { sido, sigungu, pattern: atStart(whole), isShort: false },
    ...(stem.length > 1 ? [{ sido, sigungu, pattern: atStart(`${stem}(?=\\s|$)`), isShort: true }] : []),
    ...districts.map((district) => {
      const pattern = atStart(`(?:${stem}시?\\s*)?${district}`);
      return { sido, sigungu: `${city} ${district}`, pattern, isShort: false };
    }),
  ];
}

/** The long names stand before the short ones that they begin with. */
const sidos: SidoName[] = Object.keys(table)
  .flatMap(sidoNames)
  .sort((one, other) => other.pattern.source.length - one.pattern.source.length);

/** The names of places, by the short name of the province. */
const placesOf = new Map(
  Object.entries(table).map(([names, sigungu]) => {
    const [sido = ''] = names.split(' ');
    return [sido, (sigungu.match(/\S+/g) ?? []).flatMap((name) => placeNames(sido, name))];
  }),
);

/** All names of a province, by the short one. */
const namesOfSido = new Map(Object.keys(table).map((names) => [names.split(' ')[0], names.split(' ')]));

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

/** What a store has of its address, by its columns. */
export function readAddress(address: string) {
  const region = readRegion(address);
  return { ...region, region_keys: regionKeys(region) };
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
