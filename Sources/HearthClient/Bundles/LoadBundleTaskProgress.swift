/// The progress of loading a bundle.
public final class LoadBundleTaskProgress: Sendable {
    /// The number of documents that have been read, absent ones included.
    public let documentsLoaded: Int
    /// The number of documents in the bundle; 0 before its metadata has been read.
    public let totalDocuments: Int
    /// The number of bytes that have been read, without the metadata of the bundle.
    public let bytesLoaded: Int
    /// The size of the bundle in bytes, without its metadata; 0 before that has been read.
    public let totalBytes: Int
    /// The state.
    public let state: LoadBundleTaskState

    init(documentsLoaded: Int, totalDocuments: Int, bytesLoaded: Int, totalBytes: Int, state: LoadBundleTaskState) {
        self.documentsLoaded = documentsLoaded
        self.totalDocuments = totalDocuments
        self.bytesLoaded = bytesLoaded
        self.totalBytes = totalBytes
        self.state = state
    }
}

extension LoadBundleTaskProgress: Hashable {
    /// Returns whether two objects have the same properties.
    public static func == (left: LoadBundleTaskProgress, right: LoadBundleTaskProgress) -> Bool {
        left.documentsLoaded == right.documentsLoaded && left.totalDocuments == right.totalDocuments
            && left.bytesLoaded == right.bytesLoaded && left.totalBytes == right.totalBytes && left.state == right.state
    }

    /// Hashes the numbers of documents and bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(documentsLoaded)
        hasher.combine(bytesLoaded)
        hasher.combine(state)
    }
}

/// The state of loading a bundle.
public enum LoadBundleTaskState: Int, Hashable, Sendable {
    /// The bundle could not be loaded. Nothing of it is in the cache.
    case error = 0
    /// The bundle is being read.
    case inProgress = 1
    /// The bundle is in the cache.
    case success = 2
}
