/// Probes how a file system treats file names.
package enum FileSystemProbe {
    /// Pairs of names that some file systems treat as equal.
    private static let pairs = [("probe-a", "probe-A"), ("probe-\u{e9}", "probe-e\u{301}")].map {
        (name: TemporaryName.fixed($0), twin: TemporaryName.fixed($1))
    }

    /// The names of the temporary probe files.
    package static var names: [String] { pairs.map(\.name) }

    /// Returns whether the file system treats different names as equal, because it folds case or normalizes Unicode.
    package static func conflatesNames(in folder: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        for (name, twin) in pairs {
            try folder.removeFile(name)
            try folder.removeFile(twin)
            do throws(FileSystemError) {
                _ = try folder.openFile(name, for: .creating)
            } catch {
                // The file system doesn't even support the name.
                if error.isInvalidName { return true }
                throw error
            }
            let isConflated = try folder.status(of: twin) != nil
            try folder.removeFile(name)
            if isConflated { return true }
        }
        return false
    }
}
