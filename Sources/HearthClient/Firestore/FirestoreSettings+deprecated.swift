internal import Foundation

extension FirestoreSettings {
    /// True with a persistent cache. Setting it replaces the ``cacheSettings``: by a persistent cache, or by one in memory.
    @available(*, deprecated, message: "Set cacheSettings to PersistentCacheSettings or MemoryCacheSettings instead.")
    public var isPersistenceEnabled: Bool {
        get { cacheSettings is PersistentCacheSettings }
        set {
            cacheSettings =
                newValue ? PersistentCacheSettings(sizeBytes: NSNumber(value: persistentCacheByteCount)) : MemoryCacheSettings()
        }
    }

    /// The size of the persistent cache in bytes, also of one that is enabled later; ``FirestoreCacheSizeUnlimited`` for no limit.
    ///
    /// - Precondition: It is at least 1 MiB.
    @available(*, deprecated, message: "Set cacheSettings to PersistentCacheSettings(sizeBytes:) instead.")
    public var cacheSizeBytes: Int64 {
        get {
            guard let settings = cacheSettings as? PersistentCacheSettings else { return persistentCacheByteCount }
            return settings.maximumByteCount.map { Int64($0) } ?? FirestoreCacheSizeUnlimited
        }
        set {
            persistentCacheByteCount = newValue
            guard let settings = cacheSettings as? PersistentCacheSettings else { return }
            cacheSettings = PersistentCacheSettings(sizeBytes: NSNumber(value: newValue), folder: settings.folder)
        }
    }
}
