package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// The record of verifications, `verified.json` beside the backups: the last one without a fault, and the last one of each backup.
///
/// ```json
/// {"backup":"2026-11-26T18-05-00Z","time":"…","verifications":[{"backup":"2026-11-26T18-05-00Z","time":"…","faults":0}]}
/// ```
extension BackupFolder {
    private static let verificationName = "verified.json"

    /// Records a verification, and forgets those of backups that have been removed. Durable when this returns.
    package func record(_ verification: BackupVerification) async throws(StatusError) {
        let names = Set(try await list().map { UTF8Key($0.name) })
        _ = try await verificationFile().update { bytes throws(StatusError) in
            var record = bytes.flatMap(BackupVerifications.init(json:)) ?? BackupVerifications()
            record.add(verification)
            record.latest.removeAll { !names.contains(UTF8Key($0.backup)) }
            return record.json
        }
    }

    /// Returns the recorded verifications; none if the record is damaged.
    package func verifications() async throws(StatusError) -> BackupVerifications {
        try await verificationFile().snapshot().bytes.flatMap(BackupVerifications.init(json:)) ?? BackupVerifications()
    }

    private func verificationFile() async throws(StatusError) -> LockedAtomicFile {
        LockedAtomicFile(
            Self.verificationName,
            in: try await withRoot { root throws(StatusError) in root },
            folderName: Self.description,
            queue: verificationQueue,
            isPrivate: false
        )
    }

    /// Compares all files of a backup with their digests, and records the verification.
    func verify(
        _ name: String,
        onFile: @escaping @Sendable () throws(StatusError) -> Void,
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError) {
        let startTime = Timestamp.current()
        guard try await contains(name) else {
            // Its manifest may be damaged.
            for (unusable, error) in try await unusable() where unusable.utf8.elementsEqual(name.utf8) { throw error }
            throw StatusError(.notFound, "There is no backup \(Excerpt(name)). backups.list lists those that exist.")
        }
        let faultCount = Atomic(0)
        var failure: StatusError?
        do throws(StatusError) {
            _ = try await reader(of: name).verify(onFile: onFile) { fault in
                faultCount.add(1, ordering: .relaxed)
                onFault(fault)
            }
        } catch {
            failure = error
        }
        if let failure, failure.code == .cancelled { throw failure }
        // A damaged list of files is a fault, too.
        let count = faultCount.load(ordering: .relaxed) + (failure?.code == .dataLoss ? 1 : 0)
        if count > 0 || failure != nil, try await !contains(name) {
            throw StatusError(.notFound, "The backup \(Excerpt(name)) was removed while it was verified.")
        }
        if failure == nil || count > 0 {
            try await record(BackupVerification(backup: name, time: startTime, faultCount: count))
        }
        if let failure { throw failure }
    }

    private func contains(_ name: String) async throws(StatusError) -> Bool {
        try await list().contains { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

extension BackupVerifications {
    /// Adds a verification in place of the earlier one of the same backup.
    fileprivate mutating func add(_ verification: BackupVerification) {
        latest.removeAll { $0.backup.utf8.elementsEqual(verification.backup.utf8) }
        latest.append(verification)
        if verification.faultCount == 0 { lastSuccess = verification }
    }

    /// Parses the record; returns `nil` for a damaged one.
    fileprivate init?(json bytes: [UInt8]) {
        guard let root = try? JSONText(bytes).root else { return nil }
        self.init(lastSuccess: BackupVerification(json: root), latest: [])
        if let elements = root["verifications"]?.elements {
            latest = elements.compactMap { BackupVerification(json: $0) }
        } else {
            // Earlier versions recorded the last one without a fault only.
            latest = [lastSuccess].compactMap(\.self)
        }
    }

    /// The record.
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        lastSuccess?.writeMembers(to: &writer)
        writer.key("verifications")
        writer.beginArray()
        for verification in latest {
            writer.beginObject()
            verification.writeMembers(to: &writer)
            writer.key("faults")
            writer.integer(Int64(verification.faultCount))
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}

extension BackupVerification {
    /// Parses a verification. One without a number of faults had none.
    fileprivate init?(json node: JSONNode) {
        guard let backup = node["backup"]?.string, let time = node["time"]?.string.flatMap({ try? Timestamp(rfc3339: $0) }) else {
            return nil
        }
        var faultCount = 0
        if case .integer(let count)? = node["faults"]?.number { faultCount = max(0, Int(clamping: count)) }
        self.init(backup: backup, time: time, faultCount: faultCount)
    }

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.key("backup")
        writer.string(backup)
        writer.key("time")
        writer.string(time.rfc3339)
    }
}
