import StrictJSON

extension AdminPages {
    /// Keeps what a reader has chosen at the foot of a page, and leads back to that page.
    func keepPreferences(_ request: PageRequest) -> PageResponse? {
        guard let form = request.form.flatMap({ Form($0) }) else { return nil }
        let response = PageResponse.seeOther(ReturnAddress(form["next"]).url)
        return Preferences.cookies(for: form).reduce(response) { $0.settingCookie($1) }
    }
}
