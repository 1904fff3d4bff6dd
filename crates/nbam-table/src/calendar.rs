//! ISO dates and times to numbers and back (proleptic Gregorian calendar, no leap seconds).

/// Days since 1970-01-01 of a civil date; exact for every year of four digits.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March, so that the leap day is the last day of the year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a count of days since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
pub(crate) fn parse_date(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&bytes[..4])?, digits(&bytes[5..7])?, digits(&bytes[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    Some(days_from_civil(year, month, day) as f64)
}

/// Seconds since 1970-01-01T00:00:00 of `YYYY-MM-DD[T ]HH:MM[:SS[.fff]][Z|±HH:MM]`.
pub(crate) fn parse_date_time(text: &str) -> Option<f64> {
    let days = parse_date(text.get(..10)?)?;
    let rest = text.get(10..)?.as_bytes();
    if rest.len() < 6 || !matches!(rest[0], b'T' | b't' | b' ') || rest[3] != b':' {
        return None;
    }
    let (hour, minute) = (digits(&rest[1..3])?, digits(&rest[4..6])?);
    let mut rest = &rest[6..];
    let mut second = 0.0;
    if rest.first() == Some(&b':') {
        let end = rest[1..]
            .iter()
            .position(|byte| !byte.is_ascii_digit() && *byte != b'.')
            .map_or(rest.len(), |end| end + 1);
        let number = std::str::from_utf8(&rest[1..end]).ok()?;
        second = number.parse::<f64>().ok()?;
        rest = &rest[end..];
    }
    let offset = match rest {
        b"" | b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            let minutes = digits(&[*h1, *h2])? * 60 + digits(&[*m1, *m2])?;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    if hour > 23 || minute > 59 || second >= 61.0 {
        return None;
    }
    Some(days * 86_400.0 + (hour * 3_600 + (minute - offset) * 60) as f64 + second)
}

/// `YYYY-MM-DD` of a count of days.
pub(crate) fn format_date(days: f64) -> String {
    let (year, month, day) = civil_from_days(days.floor() as i64 % 100_000_000_000);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `YYYY-MM-DDTHH:MM:SS[.ffffff]` of a count of seconds.
pub(crate) fn format_date_time(seconds: f64) -> String {
    let microseconds = (seconds * 1e6).round() as i64;
    let whole = microseconds.div_euclid(1_000_000);
    let (days, of_day) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    let date = format_date(days as f64);
    let time = format!("{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60);
    match microseconds.rem_euclid(1_000_000) {
        0 => format!("{date}T{time}"),
        fraction => format!("{date}T{time}.{fraction:06}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(parse_date("1970-01-01"), Some(0.0));
        assert_eq!(parse_date("2000-02-29"), Some(11_016.0));
        assert_eq!(parse_date("2026-11-15"), Some(20_772.0));
        assert_eq!(parse_date("1969-12-31"), Some(-1.0));
        for wrong in ["2023-02-29", "1900-02-29", "2023-13-01", "2023-1-01", "", "2023-01-00", "20230-01-1"] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn known_times() {
        assert_eq!(parse_date_time("1970-01-02T00:00:01"), Some(86_401.0));
        assert_eq!(parse_date_time("1970-01-01 01:00"), Some(3_600.0));
        assert_eq!(parse_date_time("1970-01-01T01:00:00.5+01:00"), Some(0.5));
        assert_eq!(parse_date_time("1970-01-01T00:00:00Z"), Some(0.0));
        for wrong in
            ["1970-01-01", "1970-01-01T24:00", "1970-01-01T1:00", "1970-01-01T00:00:00X", "é970-01-01T00:00"]
        {
            assert_eq!(parse_date_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        let start = days_from_civil(1800, 1, 1);
        for days in start..start + 146_097 {
            assert_eq!(parse_date(&format_date(days as f64)), Some(days as f64));
        }
        assert_eq!(format_date_time(1_700_000_000.25), "2023-11-14T22:13:20.250000");
        assert_eq!(parse_date_time("2023-11-14T22:13:20.250000"), Some(1_700_000_000.25));
    }
}
