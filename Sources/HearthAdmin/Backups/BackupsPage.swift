import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI

/// The backups of a server, and the one in progress.
struct BackupList {
    /// The complete backups, oldest first.
    let backups: [Backup]
    let status: BackupStatus
    let verifications: BackupVerifications
}

/// The backups of all databases, with the forms that make and verify one, and the steps to restore one.
struct BackupsPage: Page {
    static let template = TemplateLibrary.Name.backups

    /// A complete backup.
    struct Row: ViewModel {
        private let name: String
        private let made: RelativeTimeView
        private let duration: String
        private let files: String
        private let size: String
        private let hasKeys: Bool
        private let verified: RelativeTimeView?
        /// The number of errors that the last verification found, in words; `nil` if there were none.
        private let faultsText: String?

        fileprivate init(_ backup: Backup, _ verification: BackupVerification?, now: Timestamp) {
            name = backup.name
            made = RelativeTimeView(backup.endTime, now: now)
            let microseconds = backup.endTime.microseconds - backup.startTime.microseconds
            duration = ChartUnit.seconds.text(Double(microseconds) / 1e6)
            files = NumberFormat.grouped(backup.fileCount)
            size = ByteSize.text(backup.byteCount)
            hasKeys = backup.includesKeys
            verified = verification.map { RelativeTimeView($0.time, now: now) }
            let faultCount = verification?.faultCount ?? 0
            faultsText = faultCount > 0 ? localized(count: faultCount, one: "{count} error", other: "{count} errors") : nil
        }
    }

    /// The backup that is being made.
    struct Running: ViewModel {
        private let start: RelativeTimeView
        private let filesText: String
        private let progress: JobProgressView?
        /// The number of files of the previous backup, in words, which the bar compares with.
        private let previousText: String?

        fileprivate init(since startTime: Timestamp, fileCount: Int, previous: Backup?, now: Timestamp) {
            start = RelativeTimeView(startTime, now: now)
            filesText = localized(count: fileCount, one: "{count} file copied", other: "{count} files copied")
            progress = JobProgressView(fileCount, of: previous?.fileCount, since: startTime, now: now)
            previousText = previous.map {
                localized(
                    count: $0.fileCount,
                    one: "The previous backup has {count} file.",
                    other: "The previous backup has {count} files."
                )
            }
        }
    }

    /// The failure of the last backup.
    struct Failure: ViewModel {
        private let time: RelativeTimeView
        private let message: DisplayText

        fileprivate init(at startTime: Timestamp, _ error: StatusError, now: Timestamp) {
            time = RelativeTimeView(startTime, now: now)
            message = DisplayText(error.message)
        }
    }

    var layout = PageLayout(title: localized("Backups"), section: .activity)
    let status: HTTPResponse.Status
    private let viewsMarkup = ServerView.backups.linksMarkup
    private let action = AdminURL.backups
    private let problemAlert: ProblemAlert?
    /// True if the server has a folder for backups.
    private let isConfigured: Bool
    private let running: Running?
    private let failure: Failure?
    private let hasBackups: Bool
    private let backups: [Row]
    /// The command that restores the latest backup.
    private let restoreCommand: String

    /// - Parameter list: The backups; `nil` if the server has no folder for them.
    init(_ list: BackupList?, problems: FormProblems = FormProblems(), now: Timestamp) {
        let all = list?.backups ?? []
        isConfigured = list != nil
        problemAlert = ProblemAlert(problems)
        status = problems.status
        running = list?.status.runningSince.map {
            Running(since: $0, fileCount: list?.status.fileCount ?? 0, previous: all.last, now: now)
        }
        failure = list?.status.lastFailure.map { Failure(at: $0.startTime, $0.error, now: now) }
        backups = all.reversed().map { Row($0, list?.verifications.latest(of: $0), now: now) }
        hasBackups = !all.isEmpty
        restoreCommand = "hearth restore DIR/\(all.last?.name ?? "NAME") --data data --previous data.old"
    }
}
