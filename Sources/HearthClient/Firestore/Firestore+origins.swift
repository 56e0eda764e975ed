internal import DocumentModel

extension Firestore {
    /// Refuses references to documents of other databases.
    ///
    /// - Parameter origins: What the references belong to.
    func check(_ origins: [Firestore]) throws(StatusError) {
        for origin in origins where origin !== self {
            let (own, other) = (self.origin, origin.origin)
            guard own != other else { continue }
            throw StatusError(
                .invalidArgument,
                "The document reference is for the database at \(other) but should be for the one at \(own)."
            )
        }
    }
}

extension [Firestore] {
    /// Adds those that are not there yet.
    mutating func add(_ others: [Firestore]) {
        for other in others where !contains(where: { $0 === other }) { append(other) }
    }
}
