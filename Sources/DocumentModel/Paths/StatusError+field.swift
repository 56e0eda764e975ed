package import UTF8Text

extension StatusError {
    /// Returns the error with its ``field`` nested inside the field at `path`.
    package func inside(_ path: FieldPath) -> StatusError {
        path.segments.reversed().reduce(self) { error, segment in error.inside(field: segment) }
    }

    /// Returns the error with its ``field`` nested inside the map member `name`.
    package func inside(field name: UTF8Key) -> StatusError {
        let isNameTooLong = name.byteCount > DocumentLimits.maximumNameBytes
        return inside(isNameTooLong ? Excerpt(name.string).text : FieldPath.canonicalText(ofSegment: name))
    }

    /// Returns the error with its ``field`` nested inside the array element at `index`.
    package func inside(element index: Int) -> StatusError {
        inside("[\(index)]")
    }

    private func inside(_ outer: String) -> StatusError {
        var error = self
        error.field =
            switch field {
            case nil: outer
            case .some(let inner) where inner.utf8.first == UInt8(ascii: "["): outer + inner
            case .some(let inner): outer + "." + inner
            }
        return error
    }
}
