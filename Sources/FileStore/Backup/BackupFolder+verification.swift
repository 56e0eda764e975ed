package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// The record of the last backup that was read as a whole and found without a fault, `verified.json` beside the backups.
///
/// ```json
/// {"backup":"2026-11-26T18-05-00Z","time":"…"}
/// ```
extension BackupFolder {
    private static let verificationName = "verified.json"

    /// Records that a backup has been verified. Durable when this returns.
    package func recordVerification(of name: String, at time: Timestamp) async throws(StatusError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("backup")
        writer.string(name)
        writer.key("time")
        writer.string(time.rfc3339)
        writer.endObject()
        let bytes = writer.finish() + [UInt8(ascii: "\n")]
        try await withRoot { root throws(StatusError) in
            try reportingInBackups("write", Self.verificationName) { () throws(FileSystemError) in
                try root.descriptor.replaceFile(
                    Self.verificationName,
                    with: bytes,
                    through: TemporaryName.fixed(Self.verificationName)
                )
            }
        }
    }

    /// Returns the last verification without a fault; `nil` if there was none, or the record is damaged.
    package func lastVerification() async throws(StatusError) -> BackupVerification? {
        try await withRoot { root throws(StatusError) in
            let bytes = try reportingInBackups("read", Self.verificationName) { () throws(FileSystemError) in
                try root.descriptor.contents(ofFile: Self.verificationName, maximumBytes: 1 << 16)
            }
            guard let record = bytes.flatMap({ try? JSONText($0) })?.root, let backup = record["backup"]?.string,
                let time = record["time"]?.string.flatMap({ try? Timestamp(rfc3339: $0) })
            else { return nil }
            return BackupVerification(backup: backup, time: time)
        }
    }

    /// Compares all files of a backup with their digests, and records the verification if there is no fault.
    func verify(
        _ name: String,
        onFile: @escaping @Sendable () throws(StatusError) -> Void,
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError) {
        guard try await list().contains(where: { $0.name == name }) else {
            throw StatusError(.notFound, "There is no backup \(Excerpt(name)). backups.list lists those that exist.")
        }
        let startTime = Timestamp.current()
        let faultCount = Atomic(0)
        _ = try await reader(of: name).verify(onFile: onFile) { fault in
            faultCount.add(1, ordering: .relaxed)
            onFault(fault)
        }
        if faultCount.load(ordering: .relaxed) == 0 { try await recordVerification(of: name, at: startTime) }
    }
}
