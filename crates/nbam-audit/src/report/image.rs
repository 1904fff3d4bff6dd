//! Thumbnails: small images are embedded, so that the report stays one file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// A larger image is not embedded.
const FILE_LIMIT: u64 = 100 * 1024;
/// Images are embedded, in order, until they fill this much of the report.
const TOTAL_LIMIT: usize = 2_800_000;

/// What a row shows for its image.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Thumbnail {
    /// The image as a data URI, if it could be embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<String>,
    /// The path as it stands in the data.
    pub(super) path: String,
    /// Why the image itself is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'static str>,
}

/// Embeds images until the report would grow too large.
#[derive(Debug)]
pub(super) struct Embedder<'a> {
    folder: Option<&'a Path>,
    used: usize,
}

impl<'a> Embedder<'a> {
    pub(super) fn new(folder: Option<&'a Path>) -> Self {
        Self { folder, used: 0 }
    }

    /// The thumbnail of one path. A file that cannot be shown is named with the reason; it never fails the report.
    pub(super) fn embed(&mut self, path: &str) -> Thumbnail {
        let shown = crate::words::shorten(path, 200);
        match self.data(path) {
            Ok(data) => {
                self.used += data.len();
                Thumbnail { data: Some(data), path: shown, note: None }
            }
            Err(note) => Thumbnail { data: None, path: shown, note: Some(note) },
        }
    }

    fn data(&self, path: &str) -> Result<String, &'static str> {
        let kind = kind_by_name(path).ok_or("not a jpg, png, gif or webp file")?;
        let full = self.folder.map_or_else(|| Path::new(path).to_path_buf(), |folder| folder.join(path));
        let metadata = std::fs::metadata(&full).map_err(|_| "the file was not found")?;
        if !metadata.is_file() {
            return Err("not a file");
        }
        if metadata.len() > FILE_LIMIT {
            return Err("larger than 100 KB, so not embedded");
        }
        let mut bytes = Vec::new();
        let read = File::open(&full).and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut bytes));
        read.map_err(|_| "the file could not be read")?;
        if !has_signature(kind, &bytes) {
            return Err("its content is not an image of that kind");
        }
        let encoded = STANDARD.encode(&bytes);
        if self.used + encoded.len() > TOTAL_LIMIT {
            return Err("left out to keep the report small");
        }
        Ok(format!("data:image/{kind};base64,{encoded}"))
    }
}

fn kind_by_name(path: &str) -> Option<&'static str> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "jpg" | "jpeg" => Some("jpeg"),
        "png" => Some("png"),
        "gif" => Some("gif"),
        "webp" => Some("webp"),
        _ => None,
    }
}

/// A report gets passed on: nothing but an image may travel in it, whatever a file is called.
fn has_signature(kind: &str, bytes: &[u8]) -> bool {
    match kind {
        "jpeg" => bytes.starts_with(&[0xff, 0xd8, 0xff]),
        "png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "gif" => bytes.starts_with(b"GIF8"),
        _ => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_images_are_embedded() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("a.png", b"\x89PNG\r\n\x1a\nrest");
        write("fake.png", b"secret");
        write("big.gif", &[b"GIF8".as_slice(), &vec![0; FILE_LIMIT as usize]].concat());
        write("plain.txt", b"text");
        let mut embedder = Embedder::new(Some(folder.path()));
        assert!(embedder.embed("a.png").data.unwrap().starts_with("data:image/png;base64,iVBORw0KGgpy"));
        let mut note = |path: &str| embedder.embed(path).note.unwrap();
        assert_eq!(note("fake.png"), "its content is not an image of that kind");
        assert_eq!(note("big.gif"), "larger than 100 KB, so not embedded");
        assert_eq!(note("plain.txt"), "not a jpg, png, gif or webp file");
        assert_eq!(note("missing.jpg"), "the file was not found");
    }

    #[test]
    fn images_stop_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = [b"GIF8".as_slice(), &vec![0; 90_000]].concat();
        std::fs::write(folder.path().join("a.gif"), bytes).unwrap();
        let mut embedder = Embedder::new(Some(folder.path()));
        let embedded = (0..100).filter(|_| embedder.embed("a.gif").data.is_some()).count();
        assert!((20..30).contains(&embedded));
        assert_eq!(embedder.embed("a.gif").note, Some("left out to keep the report small"));
    }
}
