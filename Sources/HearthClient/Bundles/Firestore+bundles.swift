internal import DocumentModel
internal import FirestoreBundles
public import Foundation
internal import SyncEngine
internal import UTF8Text

extension Firestore {
    /// Loads a bundle into the local cache: documents and results of named queries, which a Firestore server SDK has put together.
    ///
    /// A document replaces only an older one. A bundle is loaded as a whole or not at all. One that is not newer than a loaded one with
    /// its ID changes nothing, and ends with success. The documents are in the cache until it has to make room for others, even if no
    /// query is listened to.
    ///
    /// The names in a bundle have a project and a database, which need not be those of this database.
    ///
    /// - Parameters:
    ///   - bundleData: The bundle. It is held in memory until it is loaded.
    ///   - completion: Called at the end, with the progress, and with an error if there was one, such as
    ///     ``FirestoreErrorCode/invalidArgument`` for a malformed bundle, with the element and its offset in bytes, or
    ///     ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    @discardableResult
    public func loadBundle(
        _ bundleData: Data,
        completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        startLoading(.data([UInt8](bundleData)), completion)
    }

    /// Loads a bundle into the local cache, from a stream that is read on a thread of its own.
    @discardableResult
    public func loadBundle(
        _ bundleStream: InputStream,
        completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        startLoading(BundleSource(bundleStream), completion)
    }

    /// Loads a bundle into the local cache.
    @discardableResult
    nonisolated(nonsending) public func loadBundle(_ bundleData: Data) async throws -> LoadBundleTaskProgress {
        try await load(.data([UInt8](bundleData))) { _ in }.get()
    }

    /// Loads a bundle into the local cache, from a stream.
    @discardableResult
    nonisolated(nonsending) public func loadBundle(_ bundleStream: InputStream) async throws -> LoadBundleTaskProgress {
        try await load(BundleSource(bundleStream)) { _ in }.get()
    }

    /// Returns a query that a bundle has brought.
    ///
    /// A listener to it begins with the documents of the bundle.
    ///
    /// - Returns: The query; `nil` if no bundle has brought one with the name, or without ``FirestoreSettings/cacheSettings``.
    nonisolated(nonsending) public func getQuery(named name: String) async -> Query? {
        do throws(StatusError) {
            guard let named = try await requireSession().namedQuery(UTF8Key(name)) else { return nil }
            return Query(.success(try named.query()), in: self)
        } catch {
            ClientLog.write("named query: \(error)")
            return nil
        }
    }

    /// Calls `completion` with a query that a bundle has brought, or with `nil`.
    public func getQuery(named name: String, completion: @escaping (Query?) -> Void) {
        let deliver: (Query??, (any Error)?) -> Void = { query, _ in completion(query ?? nil) }
        callBack(deliver) { await self.getQuery(named: name) }
    }
}

extension Firestore {
    private func startLoading(
        _ source: BundleSource,
        _ completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)?
    ) -> LoadBundleTask {
        let task = LoadBundleTask(queue: callbackQueue)
        let deliver: (LoadOutcome?, (any Error)?) -> Void = { outcome, _ in completion?(outcome?.progress, outcome?.error) }
        callBack(deliver) { await self.load(source) { task.update($0) } }
        return task
    }

    /// The outcome of the loading of a bundle.
    private struct LoadOutcome {
        let progress: LoadBundleTaskProgress
        let error: FirestoreError?

        func get() throws(FirestoreError) -> LoadBundleTaskProgress {
            if let error { throw error }
            return progress
        }
    }

    /// Loads a bundle.
    ///
    /// - Parameter observe: Called when the loading begins, after each document, and with the end.
    private func load(_ source: BundleSource, _ observe: (LoadBundleTaskProgress) -> Void) async -> LoadOutcome {
        var reader = BundleReader()
        let progress: LoadBundleTaskProgress
        var failure: FirestoreError?
        do throws(StatusError) {
            let bundle = try await read(source, with: &reader, observe)
            if let bundle { try await requireSession().load(bundle) }
            progress = reader.finalProgress
        } catch {
            progress = reader.progress(.error)
            failure = FirestoreError(error)
        }
        observe(progress)
        return LoadOutcome(progress: progress, error: failure)
    }

    /// Reads a bundle; returns `nil` if it is not newer than a loaded one.
    private func read(
        _ source: BundleSource,
        with reader: inout BundleReader,
        _ observe: (LoadBundleTaskProgress) -> Void
    ) async throws(StatusError) -> DocumentBundle? {
        let session = try requireSession()
        var source = source
        var isChecked = false
        while let bytes = try await source.next() {
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The call was cancelled. The bundle is not loaded.") }
            reader.append(bytes)
            var documentCount = reader.documentCount
            while try reader.readElement() {
                if !isChecked, let metadata = reader.metadata {
                    isChecked = true
                    if try await session.hasLoaded(metadata) { return nil }
                    observe(reader.progress(.inProgress))
                }
                guard reader.documentCount > documentCount else { continue }
                documentCount = reader.documentCount
                observe(reader.progress(.inProgress))
            }
        }
        return try reader.finish()
    }
}

extension BundleReader {
    /// Returns the progress so far.
    fileprivate func progress(_ state: LoadBundleTaskState) -> LoadBundleTaskProgress {
        LoadBundleTaskProgress(
            documentsLoaded: documentCount,
            totalDocuments: metadata?.documentCount ?? 0,
            bytesLoaded: byteCount,
            totalBytes: metadata?.byteCount ?? 0,
            state: state
        )
    }

    /// The progress of a bundle that is in the cache, also if it was not read to its end.
    fileprivate var finalProgress: LoadBundleTaskProgress {
        LoadBundleTaskProgress(
            documentsLoaded: metadata?.documentCount ?? 0,
            totalDocuments: metadata?.documentCount ?? 0,
            bytesLoaded: metadata?.byteCount ?? 0,
            totalBytes: metadata?.byteCount ?? 0,
            state: .success
        )
    }
}
