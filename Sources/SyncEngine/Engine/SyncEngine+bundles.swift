package import DocumentModel
package import UTF8Text

extension SyncEngine {
    /// Returns whether a bundle with the ID that is not older has been loaded, and is still in the cache.
    package mutating func hasLoaded(_ metadata: BundleMetadata) throws(StatusError) -> Bool {
        try store.hasLoaded(metadata)
    }

    /// Stores a bundle, all of it or nothing. A document replaces only an older one.
    package mutating func load(_ bundle: DocumentBundle) throws(StatusError) -> [SyncEffect] {
        refreshViews(try store.load(bundle))
        return takeEffects()
    }

    /// Returns a query that a bundle has brought; `nil` if there is none with the name.
    package mutating func namedQuery(_ name: UTF8Key) throws(StatusError) -> NamedQuery? {
        try store.namedQuery(name)
    }
}
