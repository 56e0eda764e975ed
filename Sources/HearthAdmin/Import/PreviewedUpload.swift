import DocumentModel
import StrictJSON
internal import UTF8Text

/// The view model of an uploaded file with its preview.
struct PreviewedUpload: ViewModel {
    /// A document whose path occurs earlier in the file.
    struct Duplicate: ViewModel {
        private let path: DisplayText
        private let lines: String

        fileprivate init(_ duplicate: ImportPreview.DuplicatePath) {
            path = DisplayText(duplicate.path.string.truncatingMiddle(toScalars: 80))
            lines = localized(
                "lines {first} and {second}",
                ["first": NumberFormat.grouped(duplicate.firstLine), "second": NumberFormat.grouped(duplicate.line)]
            )
        }
    }

    /// A document as it would be imported.
    struct SampleDocument: ViewModel {
        private let text: DisplayText
        /// The page of the document that exists already; `nil` for a new one.
        private let url: String?
        private let excerpt: DisplayText

        fileprivate init(_ document: ImportPreview.SampleDocument) {
            text = DisplayText(document.path.string.truncatingMiddle(toScalars: 80))
            url = document.exists ? AdminURL.document(document.path) : nil
            excerpt = DisplayText(document.excerpt)
        }
    }

    private let uploadID: String
    private let fileName: DisplayText
    private let countText: String
    private let canImport: Bool
    private let importText: String
    private let newText: String
    private let hasExisting: Bool
    private let existingText: String
    /// The first documents.
    private let sample: [SampleDocument]
    /// The number of duplicates; `nil` if there are none.
    private let duplicatesText: String?
    private let duplicates: [Duplicate]
    private let omittedDuplicates: String?
    /// The note that not all duplicates were found; `nil` if they were.
    let trackedPathsText: String?
    private let hasItemErrors: Bool
    private let itemErrorsText: String
    private let itemErrors: [ItemErrorView]
    private let omittedItemErrors: String?

    init(_ upload: UploadStore.Upload, _ preview: ImportPreview) {
        uploadID = upload.id.string
        fileName = DisplayText(upload.file.name.string)
        countText = localized(
            count: preview.count,
            one: "{count} document can be imported.",
            other: "{count} documents can be imported."
        )
        canImport = preview.count > 0
        importText = localized(count: preview.count, one: "Import {count} document", other: "Import {count} documents")
        newText = localized(count: preview.newCount, one: "{count} document is new.", other: "{count} documents are new.")
        hasExisting = preview.existingCount > 0
        existingText = localized(
            count: preview.existingCount,
            one: "{count} document already exists.",
            other: "{count} documents already exist."
        )
        sample = preview.sample.map(SampleDocument.init)
        duplicatesText =
            preview.duplicates.isEmpty
            ? nil
            : localized(
                count: preview.duplicates.count,
                one:
                    "{count} document has the same path as an earlier one in the file. The last one is imported, or the first one if existing documents are kept.",
                other:
                    "{count} documents have the same path as an earlier one in the file. The last one is imported, or the first one if existing documents are kept."
            )
        duplicates = preview.duplicates.elements.map(Duplicate.init)
        omittedDuplicates = preview.duplicates.omissionNote
        trackedPathsText =
            preview.exceedsTrackedPaths
            ? localized(
                count: preview.maximumTrackedPaths,
                one:
                    "The file has too many documents to find all duplicate paths. Duplicates after the first path aren’t reported, and are counted twice.",
                other:
                    "The file has too many documents to find all duplicate paths. Duplicates after the first {count} paths aren’t reported, and are counted twice."
            ) : nil
        hasItemErrors = !preview.itemErrors.isEmpty && !preview.needsCollection
        itemErrorsText = localized(
            count: preview.itemErrors.count,
            one: "{count} document can’t be imported.",
            other: "{count} documents can’t be imported."
        )
        itemErrors = preview.itemErrors.elements.map(ItemErrorView.init)
        omittedItemErrors = preview.itemErrors.omissionNote
    }
}
