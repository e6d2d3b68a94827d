//! Objects of a cache, by name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use object_store::path::Path as ObjectPath;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, WriteMultipart};
use url::Url;

use crate::error::CacheError;

/// A cache that several machines share.
pub struct Cache {
    objects: Box<dyn ObjectStore>,
    /// Folder of the cache among the objects.
    folder: ObjectPath,
    url: String,
    runtime: tokio::runtime::Runtime,
    is_read_only: bool,
}

/// Files are sent in pieces of so many bytes. S3 takes at most 10,000 pieces, so a file may have 160 GB.
const PIECE: usize = 16 << 20;

impl Cache {
    /// The cache at `url`: `file:///FOLDER` or `s3://BUCKET/FOLDER`. Credentials, region and endpoint of object storage
    /// come from the variables `AWS_*` of the environment.
    ///
    /// # Errors
    /// When the address is none, or needs object storage that this program was built without.
    pub fn open(url: &str, is_read_only: bool) -> Result<Self, CacheError> {
        let wrong = |problem: String| CacheError::Address { url: url.to_owned(), problem };
        let address = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        match address.scheme() {
            "file" => {
                let folder = address.to_file_path().ok();
                if !folder.as_deref().is_some_and(Path::is_dir) {
                    return Err(wrong("there is no such folder".to_owned()));
                }
            }
            "s3" | "s3a" if cfg!(feature = "s3") => {}
            "s3" | "s3a" => return Err(CacheError::WithoutObjectStorage { url: url.to_owned() }),
            other => return Err(wrong(format!("a cache cannot be of the kind `{other}`"))),
        }
        // Other variables may be no text.
        let settings = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("AWS_"));
        let (objects, folder) =
            object_store::parse_url_opts(&address, settings).map_err(|error| wrong(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| wrong(format!("no thread can be started for it: {error}")))?;
        Ok(Self { objects, folder, url: url.trim_end_matches('/').to_owned(), runtime, is_read_only })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether nothing may be put into it.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The address of an object, for messages.
    pub(crate) fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    fn path(&self, name: &str) -> ObjectPath {
        name.split('/').fold(self.folder.clone(), ObjectPath::join)
    }

    fn refused(&self, name: &str, action: &'static str) -> impl Fn(Error) -> CacheError {
        let place = self.place(name);
        move |cause| CacheError::Refused { place: place.clone(), action, cause }
    }

    /// The bytes of an object; none if there is no such object.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Ok(self.get_with_meta(name)?.map(|(bytes, _)| bytes))
    }

    /// The same with what the storage says of the object.
    pub(crate) fn get_with_meta(&self, name: &str) -> Result<Option<(Vec<u8>, ObjectMeta)>, CacheError> {
        let refused = self.refused(name, "read");
        self.runtime.block_on(async {
            match self.objects.get(&self.path(name)).await {
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(refused(error)),
                Ok(found) => {
                    let meta = found.meta.clone();
                    Ok(Some((found.bytes().await.map_err(refused)?.to_vec(), meta)))
                }
            }
        })
    }

    /// Removes an object, unless somebody has put another one in its place since it was read.
    pub(crate) fn remove_if_unchanged(&self, name: &str, read: &ObjectMeta) -> Result<(), CacheError> {
        let refused = self.refused(name, "look for it");
        let now = self.runtime.block_on(self.objects.head(&self.path(name)));
        match now {
            Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(refused(error)),
            Ok(now) if now.last_modified != read.last_modified || now.e_tag != read.e_tag => Ok(()),
            Ok(_) => self.remove(name),
        }
    }

    /// Writes an object of `bytes` bytes into a file, piece by piece. False if there is no such object.
    ///
    /// # Errors
    /// When the object has another size, before anything is read, or the storage refuses.
    pub(crate) fn get_file(&self, name: &str, bytes: u64, to: &Path) -> Result<bool, CacheError> {
        let refused = self.refused(name, "read");
        let wrong = |cause| CacheError::File { path: to.display().to_string(), cause };
        self.runtime.block_on(async {
            let mut size = match self.objects.head(&self.path(name)).await {
                Err(Error::NotFound { .. }) => return Ok(false),
                found => found.map_err(&refused)?.size,
            };
            if size != bytes {
                let problem = "it is not what its manifest says".to_owned();
                return Err(CacheError::Damaged { place: self.place(name), problem, is_forgotten: false });
            }
            let mut file = File::create_new(to).map_err(wrong)?;
            let mut begin = 0;
            while size > 0 {
                let length = size.min(PIECE as u64);
                let bytes = self.objects.get_range(&self.path(name), begin..begin + length).await.map_err(&refused)?;
                std::io::Write::write_all(&mut file, &bytes).map_err(wrong)?;
                begin += length;
                size -= length;
            }
            file.sync_all().map_err(wrong)?;
            Ok(true)
        })
    }

    /// Whether there is such an object.
    pub(crate) fn has(&self, name: &str) -> Result<bool, CacheError> {
        let refused = self.refused(name, "look for it");
        self.runtime.block_on(async {
            match self.objects.head(&self.path(name)).await {
                Err(Error::NotFound { .. }) => Ok(false),
                found => found.map(|_| true).map_err(refused),
            }
        })
    }

    /// Puts an object that stays as it is; if somebody put it before, that one stays.
    pub(crate) fn create(&self, name: &str, bytes: Vec<u8>) -> Result<(), CacheError> {
        let refused = self.refused(name, "write");
        let once = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        self.runtime.block_on(async {
            match self.objects.put_opts(&self.path(name), PutPayload::from(bytes), once).await {
                Ok(_) | Err(Error::AlreadyExists { .. }) => Ok(()),
                Err(error) => Err(refused(error)),
            }
        })
    }

    /// Puts an object in the place of what stood there.
    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), CacheError> {
        let refused = self.refused(name, "write");
        self.runtime.block_on(async {
            self.objects.put(&self.path(name), PutPayload::from(bytes)).await.map(|_| ()).map_err(refused)
        })
    }

    /// Puts a file whose name is its digest in the place of what stood there. A large one is sent in pieces, and seen when the last
    /// one has arrived.
    pub(crate) fn put_file(&self, name: &str, mut file: File, from: &Path) -> Result<(), CacheError> {
        let refused = self.refused(name, "write");
        let wrong = |cause| CacheError::File { path: from.display().to_string(), cause };
        let size = file.metadata().map_err(wrong)?.len();
        if size <= PIECE as u64 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(wrong)?;
            return self.put(name, bytes);
        }
        self.runtime.block_on(async {
            let upload = self.objects.put_multipart(&self.path(name)).await.map_err(&refused)?;
            let mut writer = WriteMultipart::new_with_chunk_size(upload, PIECE);
            let mut piece = vec![0; PIECE];
            let sent = loop {
                match file.read(&mut piece) {
                    Ok(0) => break Ok(()),
                    Ok(length) => writer.write(&piece[..length]),
                    Err(error) => break Err(wrong(error)),
                }
                if let Err(error) = writer.wait_for_capacity(2).await {
                    break Err(refused(error));
                }
            };
            match sent {
                Ok(()) => writer.finish().await.map(|_| ()).map_err(refused),
                Err(error) => {
                    // Pieces of an upload that was given up would be kept, and paid for.
                    let _ = writer.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Removes an object, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), CacheError> {
        let refused = self.refused(name, "remove");
        self.runtime.block_on(async {
            match self.objects.delete(&self.path(name)).await {
                Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(refused(error)),
            }
        })
    }
}
