public import Foundation

/// The settings of a local cache: ``MemoryCacheSettings`` or ``PersistentCacheSettings``.
///
/// With a cache, listeners show local writes at once, reads work without the server, and writes wait until it can be reached.
public protocol LocalCacheSettings: AnyObject, Sendable {}

/// The settings of a cache on disk, with which a program begins with what it knew before, and sends the writes of earlier runs.
public final class PersistentCacheSettings: LocalCacheSettings {
    /// The size in bytes; `nil` for no limit.
    let maximumByteCount: Int?
    /// The folder; `nil` for the standard one.
    let folder: URL?

    /// Creates the default settings: 100 MiB.
    public convenience init() {
        self.init(sizeBytes: CacheSize.standard as NSNumber)
    }

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - sizeBytes: The size above which the least recently used documents are evicted, at least 1 MiB; ``FirestoreCacheSizeUnlimited`` for
    ///     no limit. Queued writes are not counted, and stay.
    ///   - folder: The folder for the files of all databases and credentials; `nil` for `hearth` in `$XDG_STATE_HOME` or
    ///     `~/.local/state`, on Apple's systems for `Hearth` in the application support folder. Several processes can use it.
    /// - Precondition: The size is large enough.
    public init(sizeBytes: NSNumber, folder: URL? = nil) {
        maximumByteCount = CacheSize.checked(sizeBytes.int64Value)
        self.folder = folder
    }
}

/// The settings of a cache in memory. Queued writes are lost with the process.
public final class MemoryCacheSettings: LocalCacheSettings {
    let garbageCollectorSettings: any MemoryGarbageCollectorSettings

    /// Creates the default settings, which evict documents as soon as nothing needs them.
    public convenience init() {
        self.init(garbageCollectorSettings: MemoryEagerGCSettings())
    }

    /// Creates settings with another rule of eviction.
    public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings) {
        self.garbageCollectorSettings = garbageCollectorSettings
    }
}

/// The rule by which a cache in memory evicts documents: ``MemoryEagerGCSettings`` or ``MemoryLRUGCSettings``.
public protocol MemoryGarbageCollectorSettings: AnyObject, Sendable {}

/// The eviction of documents as soon as no listener and no queued write needs them.
public final class MemoryEagerGCSettings: MemoryGarbageCollectorSettings {
    /// Creates the settings.
    public init() {}
}

/// The name of ``MemoryEagerGCSettings`` in Firestore's SDK.
public typealias MemoryEagerGCSetting = MemoryEagerGCSettings

/// The eviction of the least recently used documents from a cache that has become too large.
public final class MemoryLRUGCSettings: MemoryGarbageCollectorSettings {
    /// The size in bytes; `nil` for no limit.
    let maximumByteCount: Int?

    /// Creates the default settings: 100 MiB.
    public init() {
        maximumByteCount = CacheSize.standard
    }

    /// Creates settings.
    ///
    /// - Parameter sizeBytes: The size above which documents are evicted, at least 1 MiB; ``FirestoreCacheSizeUnlimited`` for no limit.
    /// - Precondition: The size is large enough.
    public init(sizeBytes: NSNumber) {
        maximumByteCount = CacheSize.checked(sizeBytes.int64Value)
    }
}

extension PersistentCacheSettings: Equatable {
    /// Returns whether two settings have the same size and folder.
    public static func == (left: PersistentCacheSettings, right: PersistentCacheSettings) -> Bool {
        left.maximumByteCount == right.maximumByteCount && left.folder == right.folder
    }
}

extension MemoryCacheSettings: Equatable {
    /// Returns whether two settings have the same rule of eviction.
    public static func == (left: MemoryCacheSettings, right: MemoryCacheSettings) -> Bool {
        switch (left.garbageCollectorSettings, right.garbageCollectorSettings) {
        case (is MemoryEagerGCSettings, is MemoryEagerGCSettings): true
        case (let left as MemoryLRUGCSettings, let right as MemoryLRUGCSettings): left == right
        case (let left, let right): left === right
        }
    }
}

extension MemoryLRUGCSettings: Equatable {
    /// Returns whether two settings have the same size.
    public static func == (left: MemoryLRUGCSettings, right: MemoryLRUGCSettings) -> Bool {
        left.maximumByteCount == right.maximumByteCount
    }
}

extension LocalCacheSettings {
    /// Returns whether other settings are of the same kind and have the same values.
    func isEqual(to other: any LocalCacheSettings) -> Bool {
        switch (self, other) {
        case (let left as PersistentCacheSettings, let right as PersistentCacheSettings): left == right
        case (let left as MemoryCacheSettings, let right as MemoryCacheSettings): left == right
        default: self === other
        }
    }
}

/// The size of a cache without a limit.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The sizes of caches in bytes. They are aims of eviction: a cache may be larger for a while.
enum CacheSize {
    static let standard = 100 << 20
    private static let minimum: Int64 = 1 << 20

    /// Returns the size; `nil` for ``FirestoreCacheSizeUnlimited``.
    ///
    /// - Precondition: It is at least the minimum.
    static func checked(_ size: Int64) -> Int? {
        guard size != FirestoreCacheSizeUnlimited else { return nil }
        precondition(size >= minimum, "The size of a cache must be at least \(minimum) bytes, or FirestoreCacheSizeUnlimited.")
        return Int(size)
    }
}
