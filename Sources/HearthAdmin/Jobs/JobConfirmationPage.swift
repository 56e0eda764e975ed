import HTTPTypes

/// A form that starts a job on many documents.
protocol JobConfirmationPage: Page {
    var status: HTTPResponse.Status { get set }
    var problemAlert: ProblemAlert? { get set }
}

extension JobConfirmationPage {
    /// Returns the page with the reason why the job could not be started.
    func withError(_ error: JobRunner.StartError) -> Self {
        var page = self
        (page.problemAlert, page.status) = (ProblemAlert(error.problems), error.status)
        return page
    }
}
