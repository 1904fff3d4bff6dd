//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// Lets `fill` write a file, which takes its place only when all went well.
pub(super) fn write(path: &Path, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    let is_special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_special {
        // A device or a pipe cannot be replaced by a renamed file, and must not be.
        let mut file = BufWriter::new(File::options().write(true).open(path)?);
        fill(&mut file)?;
        return file.flush();
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nbam-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: what the user's umask leaves of this.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder)?;
    let mut file = BufWriter::with_capacity(1 << 20, temporary);
    fill(&mut file)?;
    let temporary = file.into_inner().map_err(|error| error.into_error())?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
