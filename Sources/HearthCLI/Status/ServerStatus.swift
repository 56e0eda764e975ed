import DocumentModel
import Foundation
import HearthTransport
import StrictJSON
import UTF8Text

/// The state of a server for people who operate it.
struct ServerStatus {
    /// The problems that need attention, each as a sentence.
    private(set) var problems: [String] = []
    /// The values, by name.
    private(set) var rows: [(name: String, text: String)] = []
    private let information: ServerInformation
    private let metrics: MetricsText

    /// The age of the last backup from which on it needs attention.
    private static let maximumBackupAge = 26.0 * 3_600
    private static let maximumStandbyLag = 60.0
    private static let minimumCertificateTime = 14.0 * 86_400
    /// The share of a disk below which its free space needs attention.
    static let minimumFreeShare = 0.1
    private static let maximumIndexLag = 10_000.0
    private static let maximumEngineLogAge = 10.0

    init(_ information: ServerInformation, _ metrics: MetricsText, at now: Date) {
        (self.information, self.metrics) = (information, metrics)
        if let primary = information.primary {
            addStandby(of: primary, metrics, at: now)
        } else if let reason = information.writeBlockedReason {
            problems.append("Writes are rejected: \(reason)")
        } else if metrics["hearth_writable"] == 0 {
            problems.append("An additional database rejects writes.")
        }
        addDatabase(metrics)
        addEngine(metrics)
        addDisk(metrics)
        addConnections(metrics)
        addBackups(metrics, at: now)
        addConfiguration(metrics, at: now)
    }

    private mutating func addDatabase(_ metrics: MetricsText) {
        let time = information.commitTime.map { ", \($0.rfc3339)" } ?? ""
        rows.append(("last commit", "\(information.sequence)\(time)"))
        if metrics["hearth_index_ready"] == 0 { problems.append("The index is being built: queries are not answered.") }
        if let indexed = metrics["hearth_index_sequence"], let last = metrics["hearth_sequence"] {
            let lag = max(0, last - indexed)
            rows.append(("index", lag == 0 ? "up to date" : "\(Int(lag)) commits behind"))
            if lag > Self.maximumIndexLag { problems.append("The index is \(Int(lag)) commits behind.") }
        }
        if let count = metrics["hearth_databases_open"] { rows.append(("open databases", "\(Int(count))")) }
        if let count = metrics["hearth_damaged_documents"], count > 0 {
            problems.append("\(Int(count).counted("document")) cannot be read: run hearth check.")
        }
        if let count = metrics["hearth_waiting_documents"], count > 0 {
            problems.append("\(Int(count).counted("document")) could not be written to their files: see the log.")
        }
        if let count = metrics["hearth_file_problems"], count > 0 {
            problems.append("\(Int(count).counted("edit")) of files did not become commits: run hearth files problems.")
        }
    }

    private mutating func addEngine(_ metrics: MetricsText) {
        guard let isReached = metrics["hearth_engine_reached"] else { return }
        let (used, all) = (metrics["hearth_engine_sessions_used"] ?? 0, metrics["hearth_engine_sessions"] ?? 0)
        rows.append(("engine", isReached == 1 ? "\(Int(used)) of \(Int(all)) connections in use" : "cannot be reached"))
        if isReached != 1 { problems.append("The database engine cannot be reached: see the log.") }
        if let age = metrics["hearth_engine_log_age_seconds"], age > Self.maximumEngineLogAge {
            problems.append("The server has not looked for commits of other servers for \(Self.duration(age)).")
        }
        if let count = metrics["hearth_engine_waiting_calls"], count > 0 {
            problems.append("\(Int(count).counted("call")) wait for a connection to the database engine.")
        }
        if let count = metrics["hearth_engine_replaced_histories_total"], count > 0 {
            problems.append("The database engine has lost commits since the server started: see the log.")
        }
    }

    private mutating func addStandby(of primary: String, _ metrics: MetricsText, at now: Date) {
        rows.append(("standby of", primary))
        let lag = metrics["hearth_standby_lag_seconds"] ?? .infinity
        let commits = metrics["hearth_standby_lag_commits"] ?? 0
        if lag.isFinite {
            let count = commits == 0 ? "" : ", at least \(Int(commits).counted("commit"))"
            rows.append(("behind", (lag < 2 ? "less than 2 s" : Self.duration(lag)) + count))
        } else {
            rows.append(("behind", "not known: it has not had all commits of the primary yet"))
        }
        if metrics["hearth_standby_failed"] == 1 {
            problems.append("The standby cannot follow its primary, or one of its databases: see the log.")
        } else if lag > Self.maximumStandbyLag {
            problems.append(
                lag.isFinite ? "The standby is \(Self.duration(lag)) behind its primary." : "The primary was not reached yet."
            )
        }
    }

    private mutating func addDisk(_ metrics: MetricsText) {
        guard let free = metrics["hearth_disk_free_bytes"], let total = metrics["hearth_disk_size_bytes"] else { return }
        let journal = metrics["hearth_journal_bytes"].map { ", journal \(Self.size($0))" } ?? ""
        rows.append(("disk", "\(Self.size(free)) of \(Self.size(total)) free\(journal)"))
        if free < total * Self.minimumFreeShare { problems.append("The disk is nearly full: \(Self.size(free)) are free.") }
    }

    private mutating func addConnections(_ metrics: MetricsText) {
        func use(_ name: String, of series: String) {
            guard let count = metrics[series], let limit = metrics[series + "_limit"] else { return }
            rows.append((name, "\(Int(count)) of \(Int(limit))"))
            if count > limit * 0.8 { problems.append("\(Int(count)) \(name) of \(Int(limit)) are in use.") }
        }
        use("connections", of: "hearth_http_connections")
        use("watch streams", of: "hearth_watch_streams")
        if let bytes = metrics["process_resident_memory_bytes"] { rows.append(("memory", Self.size(bytes))) }
    }

    private mutating func addBackups(_ metrics: MetricsText, at now: Date) {
        let seconds = now.timeIntervalSince1970
        if let time = metrics["hearth_backup_last_success_timestamp_seconds"] {
            let size = metrics["hearth_backup_bytes"].map { ", \(Self.size($0))" } ?? ""
            rows.append(("last backup", time == 0 ? "none yet" : Self.age(seconds - time) + size))
            if seconds - time > Self.maximumBackupAge {
                problems.append(time == 0 ? "No backup has been made." : "The last backup is from \(Self.age(seconds - time)).")
            }
            let verified = metrics["hearth_backup_verified_timestamp_seconds"] ?? 0
            rows.append(("last verified", verified == 0 ? "none yet" : Self.age(seconds - verified)))
        } else {
            let isOfEngine = metrics["hearth_engine_reached"] != nil
            rows.append(("last backup", isOfEngine ? "by tools of the engine" : "no folder for backups (--backups)"))
        }
        if let time = metrics["hearth_archive_last_success_timestamp_seconds"] {
            rows.append(("commits archived", "up to \(Self.age(seconds - time))"))
            if seconds - time > 900 { problems.append("Commits have not been archived since \(Self.age(seconds - time)).") }
        }
    }

    private mutating func addConfiguration(_ metrics: MetricsText, at now: Date) {
        if let time = metrics["hearth_tls_certificate_expiry_timestamp_seconds"] {
            let left = time - now.timeIntervalSince1970
            rows.append(("certificate", left > 0 ? "expires in \(Self.duration(left))" : "expired"))
            if left < Self.minimumCertificateTime {
                problems.append(left > 0 ? "The certificate expires in \(Self.duration(left))." : "The certificate has expired.")
            }
        }
        if metrics["hearth_config_reload_success"] == 0 {
            problems.append("A changed configuration was refused: see the log, and hearth config check.")
        }
    }
}

// MARK: - Output

extension ServerStatus {
    /// The lines for people.
    ///
    /// - Parameter server: The address of the server.
    func lines(server: String) -> [String] {
        let uptime = Self.duration(Double(information.uptime.components.seconds))
        let width = rows.map(\.name.count).max() ?? 0
        return ["\(information.name) \(information.version) at \(server), up \(uptime)"]
            + problems.map { "! " + $0 }
            + rows.map { row in row.name + String(repeating: " ", count: width - row.name.count) + "  " + row.text }
    }

    /// The state as a JSON object: what needs attention, and the gauges of the server by their names.
    func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("version")
        writer.string(information.version)
        writer.key("uptimeSeconds")
        writer.integer(information.uptime.components.seconds)
        writer.key("problems")
        writer.beginArray()
        for problem in problems { writer.string(problem) }
        writer.endArray()
        writer.key("gauges")
        writer.beginObject()
        for (name, value) in metrics.gauges {
            writer.key(UTF8Key(name))
            writer.double(value)
        }
        writer.endObject()
        writer.endObject()
        return writer.finish()
    }

    private static func age(_ seconds: Double) -> String {
        seconds < 1 ? "just now" : "\(duration(seconds)) ago"
    }

    /// Returns a duration in its two largest units.
    static func duration(_ seconds: Double) -> String {
        let units: [(String, Int)] = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
        var rest = max(0, Int(seconds))
        var parts: [String] = []
        for (name, size) in units where rest >= size || size == 1 && parts.isEmpty {
            parts.append("\(rest / size) \(name)")
            rest %= size
            if parts.count == 2 { break }
        }
        return parts.joined(separator: " ")
    }

    /// Returns a size in the largest decimal unit in which it is at least 1.
    static func size(_ bytes: Double) -> String {
        var (value, unit) = (bytes, "B")
        for larger in ["kB", "MB", "GB", "TB"] where value >= 1_000 { (value, unit) = (value / 1_000, larger) }
        let digits = unit == "B" || value >= 100 ? 0 : 1
        return String(format: "%.\(digits)f \(unit)", value)
    }
}
