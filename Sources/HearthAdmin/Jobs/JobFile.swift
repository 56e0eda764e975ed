import DocumentModel
import HearthAPI
import HearthWire
import StrictJSON
import UTF8Text

/// The contents of the record by which the servers of an engine know each other's jobs: JSON, one job per line.
///
/// ```json
/// {"format":1,"jobs":[
/// {"id":"…","kind":"deleting","subject":"books","database":"default/(default)","key":"5f0c1e9ab3d2","returnURL":"…",
///  "startTime":"…","reportTime":"…","isCancelled":false,"isFinished":false,"completed":500,"total":2000,…}
/// ]}
/// ```
struct JobFile: Sendable {
    /// A job as its server has last reported it.
    struct Entry: Sendable {
        let kind: BackgroundJob.Kind
        let subject: String
        let database: DatabaseID
        /// The ID of the key of the caller who started it; `nil` while the servers required none.
        let key: UTF8Key?
        let returnURL: String
        let startTime: Timestamp
        /// The time of the last report.
        let reportTime: Timestamp
        /// True if the job is to be stopped, or was.
        var isCancelled: Bool
        let progress: BackgroundJob.Progress
    }

    /// The jobs by ID.
    private(set) var entries: [UTF8Key: Entry] = [:]
    /// The JSON of jobs that a newer version has reported in another way. They stay as they are.
    private var unknownJobs: [[UInt8]] = []

    private static let record = ListRecord(format: 1, list: "jobs", subject: "jobs")
    /// The maximum size of a list in a job, in bytes: errors, kept documents, collections.
    private static let maximumListBytes = 2_048
    /// The maximum number of jobs. Finished ones make room for others first.
    private static let maximumCount = 100
    /// The time for which a job is kept after its last report.
    private static let retention = Duration.seconds(24 * 60 * 60)

    /// Creates a record without jobs.
    init() {}

    /// Parses the record; a missing one has no jobs.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if it is malformed; ``StatusCode/failedPrecondition`` if a newer version of Hearth wrote it.
    init(contents bytes: [UInt8]?) throws(StatusError) {
        guard let bytes else { return }
        for element in try Self.record.objects(in: bytes) {
            guard let id = element["id"]?.string else { throw Self.record.damaged }
            // A path or an ID that is not valid is none that this version could show either.
            if let entry = try? Entry(element) {
                entries[UTF8Key(id)] = entry
            } else if unknownJobs.count < Self.maximumCount {
                unknownJobs.append(Array(element.rawBytes))
            }
        }
    }

    /// Parses the record; one that is damaged has no jobs.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if a newer version of Hearth wrote it, which must not be replaced.
    init(replacingDamaged bytes: [UInt8]?) throws(StatusError) {
        do throws(StatusError) {
            try self.init(contents: bytes)
        } catch  where error.code == .dataLoss {
            self.init()
        }
    }

    /// Adds or replaces a job, and removes those that are no longer kept.
    mutating func report(_ entry: Entry, id: UTF8Key) {
        entries[id] = entry
        entries = entries.filter { $0.value.distance(to: entry.reportTime) < Self.retention }
        while entries.count > Self.maximumCount,
            let oldest = entries.filter({ $0.key != id }).min(by: { $0.value.evictionOrder < $1.value.evictionOrder })
        {
            entries[oldest.key] = nil
        }
    }

    /// Requests that the server of a job stops it; returns `false` if there is nothing to stop.
    mutating func cancel(_ id: UTF8Key) -> Bool {
        guard let entry = entries[id], !entry.progress.isFinished, !entry.isCancelled else { return false }
        entries[id]?.isCancelled = true
        return true
    }

    /// The record's bytes.
    var encoded: [UInt8] {
        let known = entries.sorted { $0.key < $1.key }.map { id, entry in
            var writer = JSONWriter()
            entry.write(to: &writer, id: id, maximumListBytes: Self.maximumListBytes)
            return writer.finish()
        }
        return Self.record.encoded(known + unknownJobs)
    }
}

extension JobFile.Entry {
    /// Returns the time between the last report and another time, which a wrong clock may put before it.
    func distance(to time: Timestamp) -> Duration { .microseconds(abs(time.microseconds - reportTime.microseconds)) }

    /// The order in which jobs make room for others.
    fileprivate var evictionOrder: (Int, Timestamp) { (progress.isFinished ? 0 : 1, reportTime) }

    /// Parses a job; returns `nil` if a member is missing or has another type.
    fileprivate init?(_ json: JSONNode) throws(StatusError) {
        guard let kind = json["kind"]?.string.flatMap({ BackgroundJob.Kind(rawValue: $0) }),
            let subject = json["subject"]?.string,
            let database = json["database"]?.string?.split(separator: "/", omittingEmptySubsequences: false), database.count == 2,
            let returnURL = json["returnURL"]?.string, let startTime = json[timestamp: "startTime"],
            let reportTime = json[timestamp: "reportTime"], let isCancelled = json["isCancelled"]?.boolean,
            let progress = try BackgroundJob.Progress(json)
        else { return nil }
        self.init(
            kind: kind,
            subject: subject,
            database: try DatabaseID(project: UTF8Key(database[0]), database: UTF8Key(database[1])),
            key: json["key"]?.string.map { UTF8Key($0) },
            returnURL: returnURL,
            startTime: startTime,
            reportTime: reportTime,
            isCancelled: isCancelled,
            progress: progress
        )
    }

    fileprivate func write(to writer: inout JSONWriter, id: UTF8Key, maximumListBytes: Int) {
        writer.beginObject()
        writer.member("id", id.string)
        writer.member("kind", kind.rawValue)
        writer.member("subject", subject)
        writer.member("database", database.description)
        if let key { writer.member("key", key.string) }
        writer.member("returnURL", returnURL)
        writer.member("startTime", startTime.rfc3339)
        writer.member("reportTime", reportTime.rfc3339)
        writer.member("isCancelled", isCancelled)
        progress.write(to: &writer, maximumListBytes: maximumListBytes)
        writer.endObject()
    }
}

extension BackgroundJob.Progress {
    /// Parses the members of a job; returns `nil` if one is missing or has another type.
    fileprivate init?(_ json: JSONNode) throws(StatusError) {
        guard let isFinished = json["isFinished"]?.boolean, let completed = json[count: "completed"],
            let skipped = json[count: "skipped"], let alreadyDeleted = json[count: "alreadyDeleted"],
            let unchanged = json[count: "unchanged"], let unmatched = json[count: "unmatched"],
            let errors = json["errors"]?.elements, let errorCount = json[count: "errorCount"],
            let kept = json["kept"]?.elements, let keptCount = json[count: "keptCount"],
            let written = json["collections"]?.elements, let hasMore = json["hasMoreCollections"]?.boolean
        else { return nil }
        self.init()
        self.isFinished = isFinished
        completedCount = completed
        totalCount = json[count: "total"]
        skippedCount = skipped
        alreadyDeletedCount = alreadyDeleted
        unchangedCount = unchanged
        unmatchedCount = unmatched
        failure = json["failure"]?.string
        var listed: [BackgroundJob.ItemError] = []
        for error in errors {
            guard let location = error["location"]?.string, let message = error["message"]?.string else { return nil }
            listed.append(BackgroundJob.ItemError(location: location, message: message))
        }
        itemErrors = TruncatedList(listed, ofAll: errorCount)
        var paths: [DocumentPath] = []
        for path in kept { paths.append(try DocumentPath(path.string ?? "")) }
        keptPaths = TruncatedList(paths, ofAll: keptCount)
        for path in written { addCollection(try CollectionPath(path.string ?? "")) }
        hasMoreCollections = hasMore
    }

    fileprivate func write(to writer: inout JSONWriter, maximumListBytes: Int) {
        writer.member("isFinished", isFinished)
        writer.member("completed", completedCount)
        if let totalCount { writer.member("total", totalCount) }
        writer.member("skipped", skippedCount)
        writer.member("alreadyDeleted", alreadyDeletedCount)
        writer.member("unchanged", unchangedCount)
        writer.member("unmatched", unmatchedCount)
        if let failure { writer.member("failure", failure) }
        writer.key("errors")
        writer.beginArray()
        for error in itemErrors.elements.prefix(bytes: maximumListBytes, { $0.location.utf8.count + $0.message.utf8.count }) {
            writer.beginObject()
            writer.member("location", error.location)
            writer.member("message", error.message)
            writer.endObject()
        }
        writer.endArray()
        writer.member("errorCount", itemErrors.count)
        writer.key("kept")
        writer.beginArray()
        for path in keptPaths.elements.prefix(bytes: maximumListBytes, { $0.string.utf8.count }) { writer.string(path.string) }
        writer.endArray()
        writer.member("keptCount", keptPaths.count)
        let written = collections.prefix(bytes: maximumListBytes) { $0.string.utf8.count }
        writer.key("collections")
        writer.beginArray()
        for path in written { writer.string(path.string) }
        writer.endArray()
        writer.member("hasMoreCollections", hasMoreCollections || written.count < collections.count)
    }
}

extension Array {
    /// Returns the first elements whose sizes do not exceed a number of bytes together.
    fileprivate func prefix(bytes: Int, _ size: (Element) -> Int) -> ArraySlice<Element> {
        var rest = bytes
        return prefix { element in
            rest -= size(element)
            return rest >= 0
        }
    }
}

extension JSONNode {
    fileprivate subscript(timestamp name: UTF8Key) -> Timestamp? {
        self[name]?.string.flatMap { try? Timestamp(rfc3339: $0) }
    }

    fileprivate subscript(count name: UTF8Key) -> Int? {
        guard case .integer(let number)? = self[name]?.number, number >= 0 else { return nil }
        return Int(number)
    }
}
