internal import DocumentModel
internal import SyncEngine
internal import UTF8Text

extension SyncClient {
    func hasLoaded(_ metadata: BundleMetadata) throws(StatusError) -> Bool {
        guard !isTerminated else { throw .terminated }
        return try withEngine { (engine) throws(StatusError) in try engine.hasLoaded(metadata) }
    }

    func load(_ bundle: DocumentBundle) throws(StatusError) {
        try performThrowing(isRepeatable: true) { (engine) throws(StatusError) in try engine.load(bundle) }
    }

    func namedQuery(_ name: UTF8Key) throws(StatusError) -> NamedQuery? {
        guard !isTerminated else { throw .terminated }
        return try withEngine { (engine) throws(StatusError) in try engine.namedQuery(name) }
    }
}
