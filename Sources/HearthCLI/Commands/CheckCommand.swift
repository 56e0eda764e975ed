import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import Logging
import StrictJSON
import UTF8Text

/// `hearth check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify the consistency of a data folder.",
        discussion: """
            Validates every document file, compares the files with the journal and the index, and prints one line per finding, \
            followed by a summary. The server must be stopped. Without --repair, the data folder is not modified.

            With --repair, if there are findings, replays the journal of a database that was not shut down cleanly, removes \
            temporary files, rebuilds the index if it does not match, and accepts documents that were removed, renamed or \
            replaced by hand, which it names; then checks again. Damaged documents are never modified: fix or move their files by \
            hand. \
            A repair compares the index with each document, but does not read it entry by entry; use --rebuild-index if a check \
            without --repair says so.

            Documents whose files were edited or keep the texts of edits, and files and folders that are not documents, are reported as \
            notices, not as findings; queries don't see the edits until the index is rebuilt.

            A journal that is damaged in commits that recovery needs keeps the database from opening. Restore a backup, or \
            continue with the documents in their current state: --set-aside-journal moves the damaged journal to journal.aside-1 \
            in the data folder. Its commits whose documents were not in their files yet are lost, and so is the history.

            Checks all databases in the folder, or only the one given with --database. The summary counts all checked databases.

            Exits with status 1 if there are findings.
            """
    )

    @Option(help: ArgumentHelp("Data folder.", valueName: "dir"), completion: .directory)
    var data = "data"

    @Option(
        help: ArgumentHelp(
            "Check only this database: (default), or a name as printed by `hearth databases list`.",
            valueName: "name"
        )
    )
    var database: String?

    @Flag(help: "Repair what can be repaired without losing data.")
    var repair = false

    @Flag(help: "With --repair, rebuild the index even if no fault is found.")
    var rebuildIndex = false

    @Flag(help: "With --repair, move a journal that recovery cannot read aside, within the data folder.")
    var setAsideJournal = false

    @Flag(help: "Print one line of JSON for each finding, then one for the summary.")
    var json = false

    @OptionGroup var audit: AuditLogOption

    func validate() throws {
        guard repair || audit.auditLog == nil else { throw ValidationError("--audit-log requires --repair.") }
        guard repair || !(rebuildIndex || setAsideJournal) else {
            throw ValidationError("--rebuild-index and --set-aside-journal require --repair.")
        }
        do throws(StatusError) {
            _ = try databaseID
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let printFinding = { @Sendable [json] (finding: CheckFinding) in
            print(json ? String(decoding: finding.json, as: UTF8.self) : finding.text)
        }
        let report = try await audit.audited(.repair, on: data) {
            if let id = try databaseID {
                try await check(.named(id, DatabaseFolders.open(inFolder: data)), onFinding: printFinding)
            } else {
                try await checkAll(onFinding: printFinding)
            }
        }
        print(json ? String(decoding: report.json, as: UTF8.self) : "\(report.text)")
        guard report.findings == 0 else { throw ExitCode.failure }
    }

    private func check(
        _ target: CheckTarget,
        onFinding: @escaping @Sendable (CheckFinding) -> Void
    ) async throws -> CheckReport {
        guard repair else { return try await target.check(onFinding: onFinding) }
        return try await target.check(
            repairing: CheckTarget.Repair(rebuildsIndex: rebuildIndex, setsJournalAside: setAsideJournal),
            onFinding: onFinding
        )
    }

    /// Checks the default database and, unless `--database` selects only that one, all additional databases.
    ///
    /// An additional database that cannot be opened counts as a finding.
    private func checkAll(onFinding: @escaping @Sendable (CheckFinding) -> Void) async throws -> CheckReport {
        var report = try await check(.defaultDatabase(folder: data), onFinding: onFinding)
        guard database == nil else { return report }
        let folders = try await DatabaseFolders.open(inFolder: data)
        for id in try await folders.all() {
            do {
                report += try await check(.named(id, folders), onFinding: onFinding)
            } catch let error as StatusError {
                onFinding(folders.finding(error, of: id))
                report.findings += 1
            }
        }
        return report
    }

    /// The additional database selected by `--database`; `nil` for the default database and for all databases.
    private var databaseID: DatabaseID? {
        get throws(StatusError) {
            guard let database, UTF8Key(database) != DatabaseID.defaultDatabase else { return nil }
            let id = try DatabaseID(database, inProject: DatabaseID.standard.project)
            return id == .standard ? nil : id
        }
    }
}

extension CheckFinding {
    /// The finding as one line of text.
    var text: String {
        let description = StatusError(.dataLoss, message, path: path, file: file).description
        return "\(kind.rawValue): \(description.dropFirst("\(StatusCode.dataLoss.name): ".count))"
    }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("kind")
        writer.string(kind.rawValue)
        writer.key("message")
        writer.string(message)
        if let path {
            writer.key("path")
            writer.string(path)
        }
        if let database {
            writer.key("database")
            writer.string(database.description)
        }
        writer.key("file")
        writer.string(file.path)
        if let line = file.line, let column = file.column {
            writer.key("line")
            writer.integer(Int64(line))
            writer.key("column")
            writer.integer(Int64(column))
        }
        writer.endObject()
        return writer.finish()
    }
}

extension CheckReport {
    fileprivate var text: String {
        let result = findings == 0 ? "no findings" : findings.counted("finding")
        let edited = editedDocuments == 0 ? "" : ", \(editedDocuments.counted("edited document"))"
        let kept = keptTexts == 0 ? "" : ", \(keptTexts.counted("kept text"))"
        let ignored = ignoredEntries == 0 ? "" : ", \(ignoredEntries.counted("ignored item"))"
        return "\(documents.counted("document")) in \(collections.counted("collection")), \(documentBytes.counted("byte")); "
            + "\(commits.counted("commit")) in \(segments.counted("journal segment")), \(journalBytes.counted("byte")): "
            + "\(result)\(edited)\(kept)\(ignored)"
    }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, count) in counts {
            writer.key(name)
            writer.integer(Int64(count))
        }
        writer.endObject()
        return writer.finish()
    }

    private var counts: [(UTF8Key, Int)] {
        [
            ("documents", documents), ("collections", collections), ("documentBytes", documentBytes), ("segments", segments),
            ("commits", commits), ("journalBytes", journalBytes), ("findings", findings), ("notices", notices),
            ("editedDocuments", editedDocuments), ("keptTexts", keptTexts), ("ignoredEntries", ignoredEntries),
        ]
    }
}
