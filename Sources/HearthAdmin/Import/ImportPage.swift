import DocumentModel
import HTTPTypes
import UTF8Text

/// The import page: the upload form, and the preview of an uploaded file.
struct ImportPage: Page {
    static let template = TemplateLibrary.Name.import

    /// The input of the upload form, except for the file.
    struct Input: Sendable {
        var collection = ""
        var idField = ""
        var format = ImportFormat.automatic
        var readsCellsAsStrings = false
        /// The pasted documents.
        var pasted = ""
    }

    var layout = PageLayout(title: localized("Import"))
    let status: HTTPResponse.Status
    private let action = AdminURL.import
    private let jobsURL = AdminURL.jobs
    private let problemAlert: ProblemAlert?
    private let preview: PreviewedUpload?
    private let file: FormField
    /// The size limit for the file, in words.
    private let limit = localized(
        "Up to {size} MiB, optionally compressed with gzip. The command hearth import accepts files of any size.",
        ["size": NumberFormat.grouped(UploadedFile.maximumBytes >> 20)]
    )
    private let pasted: String
    private let formatsMarkup: Markup
    private let collection: FormField
    private let idField: FormField
    private let readsCellsAsStrings: Bool

    /// - Parameter status: The status; by default it depends on whether there are problems.
    init(
        input: Input = Input(),
        problems: FormProblems = FormProblems(),
        preview: PreviewedUpload? = nil,
        status: HTTPResponse.Status? = nil
    ) {
        self.status = status ?? problems.status
        problemAlert = ProblemAlert(problems)
        self.preview = preview
        file = FormField("file", "", problems: problems)
        pasted = input.pasted
        formatsMarkup =
            ImportFormat.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == input.format) }.optionsMarkup
        collection = FormField("collection", input.collection, problems: problems)
        idField = FormField("id", input.idField, problems: problems)
        readsCellsAsStrings = input.readsCellsAsStrings
    }
}

extension ImportPage.Input {
    /// Returns the input that a file was uploaded with.
    init(_ upload: UploadStore.Upload) {
        let options = upload.options
        self.init(
            collection: options.collection.map { FormTextCoding.encodeLine($0.string) } ?? "",
            idField: options.idField.map { FormTextCoding.encodeLine($0.string) } ?? "",
            format: options.format,
            readsCellsAsStrings: options.readsCellsAsStrings,
            pasted: upload.pasted
        )
    }
}
