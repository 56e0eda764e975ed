internal import StrictJSON

extension CollectionID {
    /// The least ID that comes after this one; nil when there is none.
    ///
    /// It ends the range of the names of all that is below a collection.
    package var next: CollectionID? {
        if let longer = try? CollectionID(key.string + "\u{1}") { return longer }
        // As long as an ID may be: none begins with it, so the next one has a greater character in place of one of its last.
        var scalars = Array(key.string.unicodeScalars)
        while let last = scalars.popLast() {
            var candidate = last
            while let following = candidate.following {
                candidate = following
                var text = ""
                text.unicodeScalars.append(contentsOf: scalars + [candidate])
                if text.utf8.count > DocumentLimits.maximumNameBytes { break }
                // Some are no IDs: with a slash, or between underscores.
                if let id = try? CollectionID(text) { return id }
            }
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// The scalar behind this one; nil behind the last.
    fileprivate var following: Unicode.Scalar? {
        self == "\u{D7FF}" ? "\u{E000}" : Unicode.Scalar(value + 1)
    }
}
